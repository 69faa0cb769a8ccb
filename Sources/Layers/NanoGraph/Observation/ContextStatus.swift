// SPDX-License-Identifier: MIT

public import Observation

/// The properties of a context that can be observed.
struct ContextStatus {
  var canUndo = false
  var canRedo = false
  var undoName: String?
  var redoName: String?
  var hasUnsavedChanges = false
}

/// The observers of a context, with the values that they know.
final class ContextObservers {
  let registrar = ObservationRegistrar()
  var known: ContextStatus
  init(_ known: ContextStatus) { self.known = known }
}

/// ``canUndo``, ``canRedo``, ``undoName``, ``redoName`` and ``hasUnsavedChanges`` can be observed.
extension ObjectContext: Observable {
  /// Whether there are unsaved changes.
  public var hasUnsavedChanges: Bool { read(\.hasUnsavedChanges, \.hasUnsavedChanges) }
  /// Whether there are changes to undo.
  public var canUndo: Bool { read(\.canUndo, \.canUndo) }
  /// Whether there are changes to redo.
  public var canRedo: Bool { read(\.canRedo, \.canRedo) }
  /// The name of the group that would be undone.
  public var undoName: String? { read(\.undoName, \.undoName) }
  /// The name of the group that would be redone.
  public var redoName: String? { read(\.redoName, \.redoName) }

  private func read<Value>(
    _ property: KeyPath<ObjectContext, Value>, _ value: KeyPath<ContextStatus, Value>
  ) -> Value {
    let status = status
    if observers == nil, isLive, sensor.isTracking() { observers = ContextObservers(status) }
    observers?.registrar.access(self, keyPath: property)
    return status[keyPath: value]
  }

  private var status: ContextStatus {
    let isOpen = !undoLog.open.records.isEmpty
    let canRedo = !isOpen && !undoLog.undone.isEmpty
    return ContextStatus(
      canUndo: isOpen || !undoLog.done.isEmpty, canRedo: canRedo,
      undoName: isOpen ? undoLog.open.name : undoLog.done.last?.name,
      redoName: canRedo ? undoLog.undone.last?.name : nil,
      hasUnsavedChanges: !namedChanges.isEmpty || allTables.contains { !$0.counts.isEmpty })
  }

  /// Notifies the observers of what has changed since they were last notified, unless an operation is not finished.
  func noteStatus() {
    guard let observers, !updates.isActive else { return }
    let (old, new) = (observers.known, status)
    observers.known = new
    func note<Value: Equatable>(
      _ property: KeyPath<ObjectContext, Value>, _ value: KeyPath<ContextStatus, Value>
    ) {
      guard old[keyPath: value] != new[keyPath: value] else { return }
      observers.registrar.withMutation(of: self, keyPath: property) {}
    }
    note(\.canUndo, \.canUndo)
    note(\.canRedo, \.canRedo)
    note(\.undoName, \.undoName)
    note(\.redoName, \.redoName)
    note(\.hasUnsavedChanges, \.hasUnsavedChanges)
  }
}
