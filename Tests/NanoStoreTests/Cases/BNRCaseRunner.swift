// SPDX-License-Identifier: MIT

import NanoStore

/// Runs one case on a store of its own: a collection for each class, whose objects are kept in memory until
/// they are saved, as the original did.
final class BNRCaseRunner {
  private struct Object {
    let type: String
    var fields: DocumentObject
    var rowID: Int64?
    var isRemoved = false
  }

  private let one: AcceptanceCase
  private let store: Store
  private var objects: [String: Object] = [:]
  /// In the order in which they were inserted.
  private var names: [String] = []
  private var changed: Set<String> = []

  /// The original's first object has the number 2.
  private static let firstRowID: Int64 = 2
  private static let textFields = ["Song": ["title"]]

  init(_ one: AcceptanceCase) throws {
    self.one = one
    store = try Store(.memory)
    for name in (one.fields["classes"]?.array ?? []).compactMap(\.string) {
      try store.createCollection(name, identity: .rowID)
      guard let fields = Self.textFields[name] else { continue }
      for field in fields { try store[name].createTextIndex(field, tokens: .substrings) }
    }
  }

  func run() throws {
    for (number, step) in one.steps.enumerated() {
      let result = try perform(step)
      for (field, expected) in step["expect"]?.object ?? [:] {
        let found = result[field] ?? .null
        guard expected.matches(found) else {
          throw CaseFailure(
            description: "\(one.id) step \(number + 1): \(field) is \(found.jsonString()), "
              + "expected \(expected.jsonString())")
        }
      }
    }
  }

  private func perform(_ step: DocumentObject) throws -> DocumentObject {
    let name = step["object"]?.string ?? step["bind"]?.string ?? ""
    switch step["op"]?.string {
    case "insert":
      objects[name] = Object(
        type: step["class"]?.string ?? "", fields: step["fields"]?.object ?? [:])
      names.append(name)
      changed.insert(name)
    case "willUpdate": changed.insert(name)
    case "setField":
      objects[name]?.fields[step["field"]?.string ?? ""] = step["value"] ?? .null
    case "delete":
      objects[name]?.isRemoved = true
      changed.insert(name)
    case "save": try save()
    case "disableTextIndex":
      for collection in try store.collections() { try store[collection.name].dropIndexes() }
    case "textSearch": return try search(step)
    case let op:
      throw CaseFailure(description: "\(one.id): the runner does not know \(op ?? "nil")")
    }
    return ["ok": true]
  }

  private func save() throws {
    try store.write {
      for name in names where changed.contains(name) {
        guard let object = objects[name] else { continue }
        let collection = store[object.type]
        switch (object.rowID, object.isRemoved) {
        case (let rowID?, true): try collection.remove(rowID: rowID)
        case (nil, true): break
        case (let rowID?, false):
          for (name, value) in object.fields {
            try collection.update(rowID: rowID, set: [FieldPath(name): value])
          }
        case (nil, false): objects[name]?.rowID = try collection.insert(object.fields).rowID
        }
      }
    }
    changed = []
  }

  private func search(_ step: DocumentObject) throws -> DocumentObject {
    let query = TextQuery.field(
      FieldPath(step["key"]?.string ?? ""),
      TextQuery(bnrExpression: step["expression"]?.string ?? ""))
    let collection = store[step["class"]?.string ?? ""]
    // The original gave nil.
    guard try !collection.textIndexes().isEmpty else { return ["isNil": true] }
    let rows = try collection.search(query).sorted(by: []).rowIDs()
    return ["rowIDs": .array(rows.map { .int($0 + Self.firstRowID - 1) }), "isNil": false]
  }
}
