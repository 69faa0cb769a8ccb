// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// The operations performed on a damaged store.
///
/// Results are strings, so that those of a damaged store can be compared with those of the undamaged one.
struct DamageUse {
  /// The result of one operation.
  enum Reply: Equatable {
    case text(String)
    case failure(StoreError)
    /// An error that is not a ``StoreError``.
    case untyped(String)
  }

  struct Operation: Sendable {
    let name: String
    let run: @Sendable (Store) throws -> String

    init(_ name: String, _ run: @escaping @Sendable (Store) throws -> String) {
      self.name = name
      self.run = run
    }
  }

  static func perform(_ operation: Operation, _ store: Store) -> Reply {
    do { return .text(try operation.run(store)) } catch let error as StoreError {
      return .failure(error)
    } catch {
      return .untyped("\(type(of: error)): \(error)")
    }
  }

  /// Returns the documents of a collection in the order of its table.
  static func scan(_ store: Store, _ collection: String) throws -> [Document] {
    try store[collection].fetch()
  }

  static func text(_ documents: [Document]) throws -> String {
    try documents.map { document in
      let object = try document.object()
      return
        "\(document.rowID ?? 0)|\(document.key ?? "")|\(document.type ?? "")|\(object.jsonString())"
    }.joined(separator: "\n")
  }

  /// Operations whose results depend only on documents, settings and metadata.
  private static let scans: [Operation] = DamageSamples.collections.map { name in
    Operation("scan \(name)") { try text(scan($0, name)) }
  }

  static let contents: [Operation] =
    scans + [
      Operation(
        "metadata",
        { store in
          try store.metadataNames().map { "\($0)=\(String(describing: try store.metadata($0)))" }
            .joined(separator: "\n")
        }
      ),
      Operation(
        "settings",
        { store in
          try DamageSamples.collections.map { name in
            let collection = store[name]
            return
              "\(try collection.defaults().jsonString()) \(try collection.aliases().sorted { $0.key < $1.key })"
          }.joined(separator: "\n")
        }
      ),
      Operation(
        "bags",
        { store in
          try store.bags().map { "\($0.name ?? "") \(try $0.count()) \(try $0.members().count)" }
            .sorted().joined(separator: "\n")
        }
      ),
      Operation(
        "indexes",
        { store in
          try DamageSamples.collections.map { name in
            let indexes = try store[name].indexes().map { "\($0.name) \($0.isUnique)" }
            return
              "\(indexes) \(try store[name].fullTextIndexes().map(\.name)) \(try store[name].indexing())"
          }.joined(separator: "\n")
        }
      ),
    ]

  /// A query that an index may serve, and that can also be evaluated for each document.
  typealias Derived = (name: String, collection: String, condition: Condition)

  static let derived: [Derived] = [
    ("unique", "people", Field("email") == "p7@example.org"),
    ("range", "people", Field("age") > 40 && Field("age") < 50),
    ("compound", "people", Field("last") == "L3" && Field("first") == "F3"),
    ("elements", "people", Field("tags") == "t2"),
    ("everything", "notes", Field("n") == 4),
    ("no index", "films", Field("year") == 1970),
    ("missing", "people", Field("seen") == true),
  ]

  static func indexResult(_ operation: Derived, _ store: Store) throws -> String {
    let rows = try store[operation.collection].find(operation.condition).rowIDs()
    return rows.map { "\($0)" }.joined(separator: ",")
  }

  /// Returns the same result by evaluating the condition for each document of the table.
  static func evaluatedResult(_ operation: Derived, _ store: Store) throws -> String {
    let defaults = try store[operation.collection].defaults()
    var rows: [String] = []
    for document in try scan(store, operation.collection) {
      var object = try document.object()
      for field in defaults where object[field.name] == nil { object[field.name] = field.value }
      let subject = DocumentSubject(object)
      if try Evaluator(subject).holds(operation.condition) { rows.append("\(document.rowID ?? 0)") }
    }
    return rows.joined(separator: ",")
  }

  /// Returns the documents with a word, using the full-text index.
  static func indexedWords(_ store: Store) throws -> String {
    let found = try store["films"].search("tonic", in: "title_plot_text").rowIDs().sorted()
    return found.map { "\($0)" }.joined(separator: ",")
  }

  static func scannedWords(_ store: Store) throws -> String {
    try scan(store, "films").filter { document in
      let object = try document.object()
      return ["title", "plot"].contains { name in
        object[name]?.string?.lowercased().split { !$0.isLetter && !$0.isNumber }
          .contains("tonic") == true
      }
    }.map { "\($0.rowID ?? 0)" }.joined(separator: ",")
  }

  /// Operations that are checked only for how they fail.
  static let others: [Operation] = [
    Operation(
      "get",
      { try text([$0["people"].get("person-1"), $0["people"].get(rowID: 5)].compactMap(\.self)) }
    ),
    Operation(
      "substrings", { try text($0["films"].find(Condition.constant(true)).limit(3).fetch()) }),
    Operation(
      "sorted", { try text($0["people"].find().sorted(by: "last", "-age").limit(7).fetch()) }),
    Operation(
      "aggregate",
      { store in
        let people = store["people"].find()
        return "\(try people.average("age") ?? 0) \(try people.distinct("tags").count) "
          + "\(String(describing: try people.max("born")))"
      }
    ),
    Operation(
      "groups", { "\(try $0["people"].find().grouped(by: "last", aggregates: [.count]).count)" }),
    Operation(
      "bag contents",
      { store in
        try store.bag(named: "favorites").documents().map { $0.key ?? "" }.joined(separator: ",")
      }
    ),
    Operation(
      "bags containing", { "\(try $0.bags(containingKey: "person-1", in: "people").count)" }),
    Operation(
      "paths",
      { store in
        try DamageSamples.collections.map { "\(try store[$0].observedPaths().count)" }.joined(
          separator: ",")
      }
    ),
    Operation(
      "explain", { try $0["people"].find(Field("age") == 3).explain().plan.joined(separator: ";") }),
    Operation("statistics", { "\(try $0.statistics().collections.count)" }),
    Operation("sql", { "\(try $0.sql("SELECT count(*) FROM people").count)" }),
    Operation("alias", { "\(try $0["people"].find("l = ?", "L3").count())" }),
  ]

  /// Changes. Nothing is compared afterward, except that saved documents are read back immediately.
  static func changes(_ copy: String) -> [Operation] {
    let perCollection = DamageSamples.collections.flatMap { name -> [Operation] in
      [
        Operation(
          "save \(name)",
          { store in
            let saved = try store[name].save(
              ["age": 77, "n": 77, "title": "tonic new"], key: "new")
            let found = try store[name].get("new")
            guard found?["age"] == 77, found?.rowID == saved.rowID else { return "lost" }
            return "kept"
          }
        ),
        Operation(
          "update \(name)", { "\(try $0[name].update("new", set: ["age": 78])["age"] ?? .null)" }),
        Operation(
          "update first \(name)",
          { store in
            guard let first = try store[name].find().first() else { return "" }
            return
              "\(try store[name].update(rowID: first.rowID ?? 0, set: ["age": 5])["age"] ?? .null)"
          }
        ),
        Operation("remove \(name)", { "\(try $0[name].delete("new"))" }),
        Operation(
          "remove first \(name)",
          { store in
            guard let first = try store[name].find().first() else { return "" }
            return "\(try store[name].delete(first))"
          }
        ),
      ]
    }
    let perStore: [Operation] = [
      Operation(
        "index",
        {
          try $0["events"].createIndex("at")
          return ""
        }
      ),
      Operation("drop index", { "\(try $0["people"].dropIndex("age"))" }),
      Operation(
        "rebuild",
        { store in
          for name in DamageSamples.collections { try store[name].rebuildIndexes() }
          return ""
        }
      ),
      Operation(
        "policy",
        {
          try $0["people"].setIndexing(.everything)
          return ""
        }
      ),
      Operation(
        "defaults",
        {
          try $0["notes"].setDefaults(["n": 1])
          return ""
        }
      ),
      Operation(
        "set metadata",
        {
          try $0.setMetadata(5, "new")
          return "\(try $0.metadata("new") ?? .null)"
        }
      ),
      Operation(
        "bag",
        { store in
          let bag = try store.bag(named: "favorites")
          try bag.add(store["events"].fetch())
          try bag.save()
          return ""
        }
      ),
      Operation(
        "backup",
        {
          try $0.backup(to: copy, replacing: true)
          return ""
        }
      ),
      Operation(
        "compact",
        {
          try $0.compact()
          return ""
        }
      ),
      Operation("drop", { "\(try $0["films"].drop())" }),
      Operation(
        "reopen",
        {
          try $0.close()
          try $0.reopen()
          return ""
        }
      ),
      Operation(
        "count",
        { store in
          try DamageSamples.collections.map { "\(try store[$0].count())" }.joined(separator: ",")
        }
      ),
    ]
    return perCollection + perStore
  }
}
