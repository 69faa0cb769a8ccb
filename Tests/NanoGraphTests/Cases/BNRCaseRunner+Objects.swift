// SPDX-License-Identifier: MIT

import NanoStoreModels

/// Inserting, changing, deleting, saving and undoing objects, and their state.
extension BNRCaseRunner {
  func performObjects(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    let name = step["object"]?.string ?? step["bind"]?.string ?? ""
    switch op {
    case "insert":
      try context.closeUndoGroup()
      try insert(name, type(step), step["fields"]?.object ?? [:])
    case "willUpdate":
      try context.closeUndoGroup()
      try object(name).touch()
    case "setField":
      try set(step["field"]?.string ?? "", of: object(name), to: step["value"] ?? .null)
    case "delete":
      try context.closeUndoGroup()
      try context.delete(object(name))
    case "save":
      try save()
    case "hasUnsavedChanges": return ["value": .bool(try context.hasUnsavedChanges)]
    case "enableUndo": try context.removeAllUndoActions()
    case "undo": return ["ok": .bool(try context.undo())]
    case "redo": return ["ok": .bool(try context.redo())]
    case "field": return ["value": try value(step["field"]?.string ?? "", of: object(name))]
    case "hasStore":
      return ["value": .bool(try !isFormer(name) && object(name).context != nil)]
    case "rowIDs":
      let names = (step["objects"]?.array ?? []).compactMap(\.string)
      return ["value": .array(try names.map { .int(try originalRow(of: object($0))) })]
    default: return nil
    }
    return ["ok": true]
  }

  func save() throws {
    for type in classes.values { try prepareTextIndexes(type, isNeeded: false) }
    try keepingRows { try context.save() }
    try updateNamedNewObjects()
  }

  private func insert(
    _ name: String, _ type: any CaseObject.Type, _ fields: DocumentObject
  ) throws {
    let object = type.init()
    for (field, value) in fields { try set(field, of: object, to: value) }
    try context.insert(object)
    bind(name, object)
  }

  func set(_ field: String, of object: any CaseObject, to value: DocumentValue) throws {
    guard Swift.type(of: object).hasField(field) else { throw failure("there is no \(field)") }
    guard object.targets(field) != nil else { return object.setValue(field, value) }
    let names = value.array?.compactMap(\.string) ?? value.string.map { [$0] } ?? []
    object.setTargets(field, try names.map { try self.object($0) })
  }

  /// Returns the value of a property, or the names of the objects of a relationship: one name or null if it is to one.
  func value(_ field: String, of object: any CaseObject) throws -> DocumentValue {
    if let value = object.value(field) { return value }
    guard let targets = object.targets(field) else { throw failure("there is no \(field)") }
    let names = targets.map { DocumentValue.string(name(of: $0) ?? "") }
    return Swift.type(of: object).toOneFields.contains(field) ? names.first ?? .null : .array(names)
  }
}
