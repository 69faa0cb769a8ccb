// SPDX-License-Identifier: MIT

public import Observation

/// Called by generated property accessors. Key paths are closures because creating one costs a fifth of an unobserved
/// read.
extension GraphObject {
  /// Loads the content, and reports the read of a property to the observer that reads it, if any.
  @inlinable
  public func _$willRead<Member>(_ property: @autoclosure () -> KeyPath<Self, Member>) {
    if _$object.isFault { _$load() }
    _$willReadUnstored(property())
  }

  /// Reports the read of a property that is not part of the content: transient or inverse.
  @inlinable
  public func _$willReadUnstored<Member>(_ property: @autoclosure () -> KeyPath<Self, Member>) {
    guard isTracked() else { return }
    _$object.observers?.registrar.access(self, keyPath: property())
  }

  /// Notifies the observers of a property that has changed.
  @inlinable
  public func _$notify<Member>(_ property: KeyPath<Self, Member>) {
    _$object.observers?.notify(self, property)
  }

  /// Returns whether reads have to be reported.
  @inlinable
  func isTracked() -> Bool {
    if _$object.observers != nil { return true }
    guard _$object.observable != 0, _$object.isTracking else { return false }
    beginObservation()
    return true
  }

  @usableFromInline
  func beginObservation() {
    _$object.observers = ObjectObservers(of: self, in: _$object.table)
  }

  /// Reports the read of a property that every object has.
  func willRead<Member>(_ property: KeyPath<ObjectStatus, Member>) {
    guard isTracked() else { return }
    _$object.observers?.registrar.access(ObjectStatus.shared, keyPath: property)
  }
}

extension ObjectState {
  /// Whether reads on this thread are tracked for an observer.
  @usableFromInline
  var isTracking: Bool {
    guard let table else { return TrackingSensor.shared.withLock { $0.isTracking() } }
    return table.sensor.isTracking()
  }
}
