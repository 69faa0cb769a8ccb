// SPDX-License-Identifier: MIT

import Foundation
import Logging
import NanoStore

extension NanoStoreCaseRunner {
  func performObject(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    let name = step["object"]?.string ?? ""
    let field = FieldPath(components: [step["field"]?.string ?? ""])
    if step["object"] != nil, documents[name] == nil { throw failure("there is no \(name)") }
    switch op {
    case "newObject":
      let bind = step["bind"]?.string ?? ""
      let key = UUID().uuidString
      documents[bind] = try Document(
        value(step["info"] ?? .null).object ?? [:], key: key, type: "plain")
      names[key] = bind
    case "set": documents[name]?[field] = try value(step["value"] ?? .null)
    case "get":
      let found = documents[name]?[field]
      return [
        "present": .bool(found != nil), "isNil": .bool(found == nil), "value": found ?? .null,
      ]
    case "unset": documents[name]?[field] = nil
    case "unsetMany":
      for fieldName in strings(step["fields"]) {
        documents[name]?[FieldPath(components: [fieldName])] = nil
      }
    case "unsetAll":
      for fieldName in try documents[name]?.object().names ?? [] {
        documents[name]?[FieldPath(components: [fieldName])] = nil
      }
    case "merge":
      for (fieldName, value) in try value(step["fields"] ?? .null).object ?? [:] {
        documents[name]?[FieldPath(components: [fieldName])] = value
      }
    case "objectState": return try objectState(name)
    case "objectsEqual":
      guard let a = documents[step["a"]?.string ?? ""], let b = documents[step["b"]?.string ?? ""]
      else { throw failure("there is no such object") }
      return ["value": .bool(try a.object() == b.object() && a.type == b.type)]
    case "copyObject":
      let bind = step["bind"]?.string ?? ""
      documents[bind] = try Document(
        documents[name]?.object() ?? [:], key: UUID().uuidString, type: documents[name]?.type)
    case "saveObject":
      guard let document = documents[name], document.rowID != nil else { return ["ok": false] }
      documents[name] = try objects.save(document)
      try store.flush()
    case "setOriginalClass":
      guard let document = documents[name] else { return ["ok": false] }
      var header = document.header
      header.type = step["class"]?.string
      documents[name] = try document.with(header)
    default: throw CaseFailure(testCase, unknownOperation: op)
    }
    return ["ok": true]
  }

  private func objectState(_ name: String) throws -> DocumentObject {
    guard let document = documents[name] else { throw failure("there is no such object") }
    let object = try store?.object(document) ?? document
    let known = object is Document ? (document.type == nil ? nil : "plain") : document.type
    let isPlain = document.type == "plain"
    return [
      "key": .string(document.key ?? ""), "keyNonEmpty": .bool(document.key?.isEmpty == false),
      "fieldCount": .int(Int64(try document.object().count)),
      "hasStore": .bool(document.rowID != nil),
      "hasUnsavedChanges": .bool(document.hasUnsavedChanges),
      "class": .string(known ?? "plain"),
      "originalClass": object is Document && !isPlain
        ? document.type.map { .string($0) } ?? .null : .null,
      "info": .object(try document.object()),
    ]
  }

  func performSQL(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    let statement = translated(step["statement"]?.string ?? "")
    switch op {
    case "sqlObjects":
      guard let from = statement.range(of: " FROM ", options: .caseInsensitive) else {
        throw StoreError(.invalidArgument, "The statement names no table")
      }
      var found = try objects.documents(sql: "SELECT id" + statement[from.lowerBound...])
      if step["sort"] != nil {
        let keys = Set(found.compactMap(\.key))
        var search = Search()
        search.orderings = try orderings(step)
        found = try search.documents(in: objects).filter { keys.contains($0.key ?? "") }
      }
      return try result(found, step)
    case "explain":
      do {
        let rows = try store.sql("EXPLAIN \(statement)", SQLArguments())
        return ["rowCount": .int(Int64(rows.count)), "rowCountPositive": .bool(!rows.isEmpty)]
      } catch let error as StoreError where error.code != .closed {
        return ["error": .string(error.message), "rowCount": 0, "rowCountPositive": false]
      }
    default:
      do {
        let rows = try store.sql(statement, SQLArguments())
        // The original returned texts.
        func text(_ value: DocumentValue) -> DocumentValue {
          .string(value.string ?? value.jsonString(dialect: .plain))
        }
        return [
          "rowCount": .int(Int64(rows.count)),
          "firstValue": rows.first?.values.first.map(text) ?? .null,
          "columns": .array(rows.columns.map { .string($0) }),
          "rows": .array(rows.map { .array($0.values.map(text)) }),
        ]
      } catch let error as StoreError where error.code == .readOnly {
        try store.execute(statement, SQLArguments())
        return ["rowCount": 0]
      } catch let error as StoreError where error.code != .closed {
        return ["error": .string(error.message), "rowCount": 0]
      }
    }
  }

  /// Translates the original's table and column names.
  private func translated(_ statement: String) -> String {
    // The table exists only once the collection does.
    _ = try? store.createCollection(Self.collection)
    let values =
      "(SELECT d.key AS key, j.key AS attribute, j.value AS value FROM \(Self.collection) d, "
      + "json_each(d.body) j)"
    let pairs = [
      ("NSFValues", values), ("NSFKeyedArchive", "body"), ("NSFKeys", Self.collection),
      ("NSFCalendarDate", "added"), ("NSFObjectClass", "type"), ("NSFAttribute", "attribute"),
      ("NSFValue", "value"), ("NSFKey", "key"),
    ]
    return pairs.reduce(statement) {
      $0.replacingOccurrences(of: $1.0, with: $1.1, options: .caseInsensitive)
    }
  }

  func global(_ step: DocumentObject) throws -> DocumentObject {
    let datatypes: [(String, SQLDatatype)] = [
      ("unknown", .unknown), ("data", .blob), ("string", .text), ("date", .text), ("number", .real),
      ("rowId", .integer),
    ]
    switch step["name"]?.string {
    case "datatypeName":
      return ["map": .object(DocumentObject(datatypes.map { ($0.0, .string($0.1.rawValue)) }))]
    case "datatypeFromName":
      let names = step["expect"]?["map"]?.object?.names ?? []
      let map = names.map { name in
        (name, DocumentValue.string(datatypes.first { $0.1 == SQLDatatype(name: name) }?.0 ?? ""))
      }
      return ["map": .object(DocumentObject(map))]
    case "matchName":
      let names = step["expect"]?["map"]?.object?.names ?? []
      let map = names.map { ($0, DocumentValue.string(Match(rawValue: $0)?.words ?? "")) }
      return ["map": .object(DocumentObject(map))]
    case "debug":
      var configuration = Store.Configuration()
      configuration.logger = Logger(label: "case") { StreamLogHandler.standardError(label: $0) }
      configuration.logger.logLevel = step["set"] == true ? .trace : .info
      return ["value": .bool(configuration.logger.logLevel == .trace)]
    case "log":
      var configuration = Store.Configuration()
      configuration.logger.logLevel = .trace
      _ = try Store(.memory, configuration: configuration)[Self.collection].count()
      return ["ok": true]
    case "uuid":
      // The runner's cases about uppercase keys are skipped.
      let keys = try (0..<100).map { _ in
        try objects.save(Document([:] as DocumentObject)).key ?? ""
      }
      return [
        "value": .string(keys[0]), "pattern": .string(keys[0]),
        "length": .int(Int64(keys[0].count)),
        "allDifferent": .bool(Set(keys).count == keys.count),
      ]
    default: throw failure("the runner does not know the helper")
    }
  }
}
