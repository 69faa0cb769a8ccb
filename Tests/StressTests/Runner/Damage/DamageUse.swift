// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// Everything that is done with a damaged store.
///
/// Answers are texts, so that those of a damaged store can be compared with those of the sound one.
struct DamageUse {
  /// What one call gave.
  enum Answer: Equatable {
    case text(String)
    case failure(StoreError)
    /// An error of another type, which nobody was promised.
    case untyped(String)
  }

  struct EngineRequest: Sendable {
    let name: String
    let ask: @Sendable (Store) throws -> String

    init(_ name: String, _ ask: @escaping @Sendable (Store) throws -> String) {
      self.name = name
      self.ask = ask
    }
  }

  static func answer(_ question: EngineRequest, _ store: Store) -> Answer {
    do { return .text(try question.ask(store)) } catch let error as StoreError {
      return .failure(error)
    } catch {
      return .untyped("\(type(of: error)): \(error)")
    }
  }

  /// The documents of a collection as they stand in its table, in order.
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

  /// Questions about the contents, whose answers only documents, settings and metadata decide.
  private static let scans: [EngineRequest] = DamageSamples.collections.map { name in
    EngineRequest("scan \(name)") { try text(scan($0, name)) }
  }

  static let contents: [EngineRequest] =
    scans + [
      EngineRequest(
        "metadata",
        { store in
          try store.metadataNames().map { "\($0)=\(String(describing: try store.metadata($0)))" }
            .joined(separator: "\n")
        }
      ),
      EngineRequest(
        "settings",
        { store in
          try DamageSamples.collections.map { name in
            let collection = store[name]
            return
              "\(try collection.defaults().jsonString()) \(try collection.aliases().sorted { $0.key < $1.key })"
          }.joined(separator: "\n")
        }
      ),
      EngineRequest(
        "bags",
        { store in
          try store.bags().map { "\($0.name ?? "") \(try $0.count()) \(try $0.members().count)" }
            .sorted().joined(separator: "\n")
        }
      ),
      EngineRequest(
        "indexes",
        { store in
          try DamageSamples.collections.map { name in
            let indexes = try store[name].indexes().map { "\($0.name) \($0.isUnique)" }
            return
              "\(indexes) \(try store[name].textIndexes().map(\.name)) \(try store[name].indexing())"
          }.joined(separator: "\n")
        }
      ),
    ]

  /// A question that an index may answer, and that can be asked of each document by itself.
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

  static func found(_ question: Derived, _ store: Store) throws -> String {
    let rows = try store[question.collection].find(question.condition).rowIDs()
    return rows.map { "\($0)" }.joined(separator: ",")
  }

  /// The same answer by the definition of conditions, from the documents as they stand in the table.
  static func defined(_ question: Derived, _ store: Store) throws -> String {
    let defaults = try store[question.collection].defaults()
    var rows: [String] = []
    for document in try scan(store, question.collection) {
      var object = try document.object()
      for field in defaults where object[field.name] == nil { object[field.name] = field.value }
      let subject = DocumentSubject(object)
      if try Evaluator(subject).holds(question.condition) { rows.append("\(document.rowID ?? 0)") }
    }
    return rows.joined(separator: ",")
  }

  /// Documents that have a word, by the index of words and by looking.
  static func searched(_ store: Store) throws -> String {
    let found = try store["films"].search("tonic", in: "title_plot_text").rowIDs().sorted()
    return found.map { "\($0)" }.joined(separator: ",")
  }

  static func looked(_ store: Store) throws -> String {
    try scan(store, "films").filter { document in
      let object = try document.object()
      return ["title", "plot"].contains { name in
        object[name]?.string?.lowercased().split { !$0.isLetter && !$0.isNumber }
          .contains("tonic") == true
      }
    }.map { "\($0.rowID ?? 0)" }.joined(separator: ",")
  }

  /// Questions whose answers are only looked at for how they fail.
  static let others: [EngineRequest] = [
    EngineRequest(
      "get",
      { try text([$0["people"].get("person-1"), $0["people"].get(rowID: 5)].compactMap(\.self)) }
    ),
    EngineRequest(
      "substrings", { try text($0["films"].find(Condition.constant(true)).limit(3).fetch()) }),
    EngineRequest(
      "sorted", { try text($0["people"].find().sorted(by: "last", "-age").limit(7).fetch()) }),
    EngineRequest(
      "aggregate",
      { store in
        let people = store["people"].find()
        return "\(try people.average("age") ?? 0) \(try people.distinct("tags").count) "
          + "\(String(describing: try people.max("born")))"
      }
    ),
    EngineRequest(
      "groups", { "\(try $0["people"].find().grouped(by: "last", aggregates: [.count]).count)" }),
    EngineRequest(
      "bag contents",
      { store in
        try store.bag(named: "favourites").documents().map { $0.key ?? "" }.joined(separator: ",")
      }
    ),
    EngineRequest(
      "bags containing", { "\(try $0.bags(containingKey: "person-1", in: "people").count)" }),
    EngineRequest(
      "paths",
      { store in
        try DamageSamples.collections.map { "\(try store[$0].observedPaths().count)" }.joined(
          separator: ",")
      }
    ),
    EngineRequest(
      "explain", { try $0["people"].find(Field("age") == 3).explain().plan.joined(separator: ";") }),
    EngineRequest("statistics", { "\(try $0.statistics().collections.count)" }),
    EngineRequest("sql", { "\(try $0.sql("SELECT count(*) FROM people").count)" }),
    EngineRequest("alias", { "\(try $0["people"].find("l = ?", "L3").count())" }),
  ]

  /// Changes, after which nothing is compared: what was written is asked for at once.
  static func changes(_ copy: String) -> [EngineRequest] {
    let perCollection = DamageSamples.collections.flatMap { name -> [EngineRequest] in
      [
        EngineRequest(
          "save \(name)",
          { store in
            let saved = try store[name].save(
              ["age": 77, "n": 77, "title": "tonic new"], key: "new")
            let found = try store[name].get("new")
            guard found?["age"] == 77, found?.rowID == saved.rowID else { return "lost" }
            return "kept"
          }
        ),
        EngineRequest(
          "update \(name)", { "\(try $0[name].update("new", set: ["age": 78])["age"] ?? .null)" }),
        EngineRequest(
          "update first \(name)",
          { store in
            guard let first = try store[name].find().first() else { return "" }
            return
              "\(try store[name].update(rowID: first.rowID ?? 0, set: ["age": 5])["age"] ?? .null)"
          }
        ),
        EngineRequest("remove \(name)", { "\(try $0[name].delete("new"))" }),
        EngineRequest(
          "remove first \(name)",
          { store in
            guard let first = try store[name].find().first() else { return "" }
            return "\(try store[name].delete(first))"
          }
        ),
      ]
    }
    let perStore: [EngineRequest] = [
      EngineRequest(
        "index",
        {
          try $0["events"].createIndex("at")
          return ""
        }
      ),
      EngineRequest("drop index", { "\(try $0["people"].dropIndex("age"))" }),
      EngineRequest(
        "rebuild",
        { store in
          for name in DamageSamples.collections { try store[name].rebuildIndexes() }
          return ""
        }
      ),
      EngineRequest(
        "policy",
        {
          try $0["people"].setIndexing(.everything)
          return ""
        }
      ),
      EngineRequest(
        "defaults",
        {
          try $0["notes"].setDefaults(["n": 1])
          return ""
        }
      ),
      EngineRequest(
        "set metadata",
        {
          try $0.setMetadata(5, "new")
          return "\(try $0.metadata("new") ?? .null)"
        }
      ),
      EngineRequest(
        "bag",
        { store in
          let bag = try store.bag(named: "favourites")
          try bag.add(store["events"].fetch())
          try bag.save()
          return ""
        }
      ),
      EngineRequest(
        "backup",
        {
          try $0.backup(to: copy, replacing: true)
          return ""
        }
      ),
      EngineRequest(
        "compact",
        {
          try $0.compact()
          return ""
        }
      ),
      EngineRequest("drop", { "\(try $0["films"].drop())" }),
      EngineRequest(
        "reopen",
        {
          try $0.close()
          try $0.reopen()
          return ""
        }
      ),
      EngineRequest(
        "count",
        { store in
          try DamageSamples.collections.map { "\(try store[$0].count())" }.joined(separator: ",")
        }
      ),
    ]
    return perCollection + perStore
  }
}
