// SPDX-License-Identifier: MIT

public import Observation

/// The observers of an object, created when one of its properties is read for an observer.
@usableFromInline
final class ObjectObservers {
  @usableFromInline let registrar = ObservationRegistrar()
  /// Nil while the object is deallocated, which sets it.
  unowned(unsafe) private(set) var object: (any GraphObject)?
  /// Nil without a context.
  private(set) weak var table: ObjectTable?

  init(of object: any GraphObject, in table: ObjectTable?) {
    self.object = object
    move(to: table)
  }

  /// Called when the object enters or leaves a context.
  @usableFromInline
  func move(to table: ObjectTable?) {
    self.table?.observers[ObjectIdentifier(self)] = nil
    self.table = table
    table?.observers[ObjectIdentifier(self)] = Unowned(self)
  }

  /// Called when the object is deallocated.
  @usableFromInline
  func end() {
    object = nil
    move(to: nil)
  }

  struct Unowned {
    unowned let observers: ObjectObservers
    init(_ observers: ObjectObservers) { self.observers = observers }
  }

  /// Notifies the observers of a property: after the operation that the context performs, or now.
  @usableFromInline
  func notify<Subject: Observable, Member>(_ subject: Subject, _ property: KeyPath<Subject, Member>)
  {
    guard let context = table?.context, context.updates.isActive else {
      return registrar.withMutation(of: subject, keyPath: property) {}
    }
    context.updates.add(self, property) { [registrar] in
      registrar.withMutation(of: subject, keyPath: property) {}
    }
  }

  /// Notifies the observers of what the flags of the object mean.
  @usableFromInline
  func flagsChanged(from old: ObjectState.Flags, to new: ObjectState.Flags) {
    if let context = table?.context, context.updates.isActive {
      context.updates.note(self, flags: old)
    } else {
      notifyOfFlags(from: old, to: new)
    }
  }

  func notifyOfFlags(from old: ObjectState.Flags, to new: ObjectState.Flags) {
    let status = ObjectStatus.shared
    if old.isDeleted != new.isDeleted { notify(status, \.isDeleted) }
    if old.hasChanges != new.hasChanges { notify(status, \.hasChanges) }
    if old.contains(.inserted) != new.contains(.inserted) { notify(status, \.objectID) }
  }
}

extension ObjectState.Flags {
  @inlinable var isDeleted: Bool { contains(.deleted) }
  var hasChanges: Bool { !isDeleted && !isDisjoint(with: [.inserted, .changed]) }
}

/// Stands for the properties that every object has: a key path whose root is a generic type would be allocated for
/// each read.
@usableFromInline
final class ObjectStatus: Observable, Sendable {
  static let shared = ObjectStatus()
  var isDeleted: Bool { false }
  var hasChanges: Bool { false }
  var objectID: Int64? { nil }
}
