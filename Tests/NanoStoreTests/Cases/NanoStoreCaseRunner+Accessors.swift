// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// Properties of searches, predicates, stores and engines.
extension NanoStoreCaseRunner {
  func accessor(_ step: DocumentObject) throws -> DocumentObject {
    let given = step["set"]
    let target = step["target"]?.string ?? ""
    switch target {
    case "sortDescriptor", "sortDescriptor.init":
      let ordering = try SearchOrdering(
        step["attribute"]?.string ?? "", ascending: step["ascending"]?.bool ?? true)
      return ["attribute": .string(ordering.attribute), "ascending": .bool(ordering.ascending)]
    case "predicate", "predicate.init":
      let predicate = try expression([step["predicate"] ?? .object(step)]).first
      return Self.form(of: predicate)
    case "expression.predicates", "expression.init", "expression":
      let raw = step["expression"] ?? step["predicate"].map { [$0] } ?? .null
      return state(try expression(raw))
    case "expression.operators":
      // As in the original, the first predicate also has an operator, which means nothing.
      let links = try expression(step["expression"] ?? .null).links
      let operators = [SearchExpression.Operator.and] + links.map(\.operator)
      return [
        "value": .array(operators.map { .string($0.rawValue) }),
        "count": .int(Int64(operators.count)),
      ]
    case "store.engine":
      // The store itself runs SQL, and has the settings.
      return ["present": .bool(store != nil), "isNil": .bool(store == nil)]
    case "store.saveInterval":
      if let interval = given?.int { store.saveInterval = interval }
      return ["value": .int(Int64(store.saveInterval))]
    case _ where target.hasPrefix("search."):
      return try search(String(target.dropFirst("search.".count)), given)
    default: return try setting(target, given)
    }
  }

  // MARK: Searches

  /// Sets a property of a search, and returns its value and all properties.
  private func search(_ property: String, _ given: DocumentValue?) throws -> DocumentObject {
    var search = Search()
    if property == "reset" {
      search = try self.search(from: given?.object ?? [:])
      search.reset()
    } else if let given {
      let names = ["limit", "offset", "sort", "filterClass", "distinctValues", "groupValues"]
      let settable = ["key", "attribute", "value", "match", "expressions", "attributesToReturn"]
      guard (settable + names).contains(property) else {
        throw failure("the runner does not know the property \(property)")
      }
      let name = property == "groupValues" ? "distinctValues" : property
      search = try self.search(from: [name: given])
    }
    var state = try state(search)
    state["groupValues"] = state["distinctValues"]
    if property == "store" {
      // A search has no store; each of its calls has one.
      state["present"] = .bool(store != nil)
    } else if let value = state[property] {
      state["value"] = value
      state["count"] = .int(Int64(value.array?.count ?? 0))
    } else if !["defaults", "reset", "init"].contains(property) {
      throw failure("the runner does not know the property \(property)")
    }
    return state
  }

  private func state(_ search: Search) throws -> DocumentObject {
    func text(_ text: String?) -> DocumentValue { text.map { .string($0) } ?? .null }
    return [
      "key": text(search.key), "attribute": text(search.attribute),
      "value": search.value ?? .null, "match": .string(search.match.rawValue),
      "expressions": .array(search.expressions.map { state($0)["value"] ?? .null }),
      "filterClass": text(search.type),
      "limit": .int(Int64(search.limit ?? 0)), "offset": .int(Int64(search.offset)),
      "sort": .array(
        search.orderings.map {
          ["attribute": .string($0.attribute), "ascending": .bool($0.ascending)]
        }),
      "distinctValues": .bool(search.groupsValues),
      "attributesToReturn": .array(search.fields.map { .string($0) }),
    ]
  }

  /// Returns an expression in the form of the cases.
  private func state(_ expression: SearchExpression) -> DocumentObject {
    var links: [DocumentValue] = [.object(Self.form(of: expression.first))]
    for link in expression.links {
      var form = Self.form(of: link.predicate)
      form["op"] = .string(link.operator.rawValue)
      links.append(.object(form))
    }
    return ["value": .array(links), "count": .int(Int64(expression.predicates.count))]
  }

  private static func form(of predicate: SearchPredicate) -> DocumentObject {
    switch predicate {
    case .key(let match, let text):
      ["column": "key", "match": .string(match.rawValue), "value": .string(text)]
    case .attribute(let match, let text):
      ["column": "attribute", "match": .string(match.rawValue), "value": .string(text)]
    case .value(let match, let value):
      ["column": "value", "match": .string(match.rawValue), "value": value]
    }
  }

  // MARK: Settings

  /// Opens a store with the setting and reads it back, because settings apply when a store is opened.
  private func setting(_ target: String, _ given: DocumentValue?) throws -> DocumentObject {
    var changed = engine
    if let given { try set(target, given, &changed) }
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
    case "engine.pageSize": return ["value": .int(number("page_size"))]
    case "engine.encoding":
      return [
        "value": .string(settings["encoding"]?.hasPrefix("UTF-16") == true ? "UTF-16" : "UTF-8")
      ]
    case "engine.busyTimeout": return ["value": .int(number("busy_timeout"))]
    case "store.processingMode":
      return ["value": number("synchronous") == 0 ? "fast" : "default"]
    default: throw failure("the runner does not know the setting \(target)")
    }
  }

  private func set(
    _ target: String, _ given: DocumentValue, _ configuration: inout SQLiteConfiguration
  ) throws {
    let (text, number) = (given.string ?? "", given.int ?? 0)
    switch target {
    case "engine.journalMode": configuration.journalMode = try known(.init(rawValue: text))
    case "engine.synchronousMode":
      configuration.durability = try known(["off": .fast, "normal": .normal, "full": .full][text])
    case "engine.tempStoreMode": configuration.temporaryStorage = try known(.init(rawValue: text))
    case "engine.cacheSize": configuration.setCacheSize(pages: number)
    case "engine.pageSize": configuration.pageSize = number
    case "engine.encoding": configuration.encoding = text == "UTF-16" ? .utf16 : .utf8
    case "engine.busyTimeout": configuration.setBusyTimeout(milliseconds: number)
    case "store.processingMode": configuration.processingMode = try known(.init(rawValue: text))
    default: throw failure("the runner does not know the setting \(target)")
    }
  }

  private func known<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw failure("the runner does not know the value of the setting") }
    return value
  }
}
