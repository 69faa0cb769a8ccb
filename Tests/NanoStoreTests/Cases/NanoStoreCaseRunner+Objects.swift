// SPDX-License-Identifier: MIT

import Foundation
import Logging
import NanoStore

extension NanoStoreCaseRunner {
  func performObject(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    let name = step["object"]?.string ?? ""
    let field = FieldPath(components: [step["field"]?.string ?? ""])
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
      return ["present": .bool(found != nil), "value": found ?? .null]
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
      let (a, b) = (documents[step["a"]?.string ?? ""], documents[step["b"]?.string ?? ""])
      return ["value": .bool(try a?.object() == b?.object() && a?.type == b?.type)]
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
    default: break
    }
    return ["ok": true]
  }

  private func objectState(_ name: String) throws -> DocumentObject {
    guard let document = documents[name] else { return [:] }
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
      let found = try objects.documents(sql: "SELECT id" + statement[from.lowerBound...])
      return ["count": .int(Int64(found.count)), "isList": .bool(step["returns"] == "keys")]
    case "explain":
      do {
        let rows = try store.sql("EXPLAIN \(statement)", SQLArguments())
        return ["rowCount": .int(Int64(rows.count)), "rowCountPositive": .bool(!rows.isEmpty)]
      } catch let error as StoreError {
        return ["error": .string(error.message), "rowCount": 0]
      }
    default:
      do {
        let rows = try store.sql(statement, SQLArguments())
        let first = rows.first?.values.first.map { $0.jsonString(dialect: .plain) } ?? ""
        return ["rowCount": .int(Int64(rows.count)), "firstValue": .string(first)]
      } catch let error as StoreError where error.code == .readOnly {
        try store.execute(statement, SQLArguments())
        return [:]
      } catch let error as StoreError {
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

  func accessor(_ step: DocumentObject) throws -> DocumentObject {
    let given = step["set"]
    switch step["target"]?.string ?? "" {
    case "sortDescriptor", "sortDescriptor.init":
      let ordering = try SearchOrdering(
        step["attribute"]?.string ?? "", ascending: step["ascending"]?.bool ?? true)
      return ["attribute": .string(ordering.attribute), "ascending": .bool(ordering.ascending)]
    case "expression.predicates":
      let expression = try expression(step["expression"] ?? .null)
      return ["count": .int(Int64(expression.predicates.count))]
    case "search.store": return ["present": .bool(store != nil)]
    case "search.defaults": return state(Search())
    case "search.reset":
      var search = Search(value: given?["value"], key: given?["key"]?.string)
      search.reset()
      return state(search)
    case "search.attribute":
      return ["value": .string(Search(attribute: given?.string).attribute ?? "")]
    case "search.value": return ["value": Search(value: given).value ?? .null]
    case "search.match":
      return ["value": .string(given?.string.flatMap(Match.init)?.rawValue ?? "")]
    case "search.attributesToReturn":
      return ["value": .array(Search(fields: strings(given)).fields.map { .string($0) })]
    case let target: return try setting(target, given)
    }
  }

  private func state(_ search: Search) -> DocumentObject {
    [
      "key": search.key.map { .string($0) } ?? .null,
      "attribute": search.attribute.map { .string($0) } ?? .null, "value": search.value ?? .null,
      "match": .string(search.match.rawValue),
      "attributesToReturn": .array(search.fields.map { .string($0) }),
    ]
  }

  /// Opens a store with the setting and reads it back, because settings apply when a store is opened.
  private func setting(_ target: String, _ given: DocumentValue?) throws -> DocumentObject {
    var changed = engine
    let text = given?.string ?? ""
    switch (target, given) {
    case (_, nil): break
    case ("engine.journalMode", _): changed.journalMode = .init(rawValue: text) ?? .wal
    case ("engine.synchronousMode", _): changed.durability = .init(rawValue: text) ?? .normal
    case ("engine.tempStoreMode", _): changed.temporaryStorage = .init(rawValue: text) ?? .default
    case ("engine.cacheSize", let pages?): changed.setCacheSize(pages: Int(pages.int ?? 0))
    case ("engine.encoding", _): changed.encoding = text == "UTF-16" ? .utf16 : .utf8
    case ("engine.busyTimeout", let milliseconds?):
      changed.setBusyTimeout(milliseconds: Int(milliseconds.int ?? 0))
    case ("store.processingMode", _): changed.processingMode = .init(rawValue: text) ?? .default
    default: throw CaseFailure(description: "\(testCase.id): unsupported setting \(target)")
    }
    let opened = try Store(.file(folder.file(UUID().uuidString)), engine: changed)
    defer { try? opened.close() }
    let settings = try opened.statistics().settings
    func number(_ name: String) -> Int64 { settings[name].flatMap { Int64($0) } ?? 0 }
    switch target {
    case "engine.journalMode": return ["value": .string(settings["journal_mode"] ?? "")]
    case "engine.synchronousMode":
      return ["value": .string(["off", "normal", "full", "full"][Int(number("synchronous"))])]
    case "engine.tempStoreMode":
      return ["value": .string(["default", "file", "memory"][Int(number("temp_store"))])]
    case "engine.cacheSize":
      return ["value": .int(-number("cache_size") * 1024 / number("page_size"))]
    case "engine.encoding":
      return [
        "value": .string(settings["encoding"]?.hasPrefix("UTF-16") == true ? "UTF-16" : "UTF-8")
      ]
    case "engine.busyTimeout": return ["value": .int(number("busy_timeout"))]
    default:
      let isFast = number("synchronous") == 0
      return ["value": isFast ? "fast" : "default"]
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
    default: throw CaseFailure(description: "\(testCase.id): unsupported helper")
    }
  }
}
