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
    /// A result that is wrong in any case.
    case wrong(String)
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
    } catch let error as StressTestFailure {
      return .wrong(error.description)
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
  static func contents(_ kind: DamageSamples.Kind) -> [Operation] {
    let scans = kind.collections.map { name in
      Operation("scan \(name)") { try text(scan($0, name)) }
    }
    let own: [Operation] =
      switch kind {
      case .models: DamageGraph.contents
      case .tuned: DamageTuning.contents
      case .synced: DamageSync.contents + DamageAttachments.operations
      case .encrypted: DamageAttachments.operations
      case .plain, .logged, .wide, .deep, .journal: []
      }
    return scans + commonContents + own
  }

  private static let commonContents: [Operation] =
    [
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

  /// Operations that are checked only for how they fail.
  static func others(_ kind: DamageSamples.Kind) -> [Operation] {
    commonOthers + (kind == .tuned ? DamageTuning.others : [])
  }

  private static let commonOthers: [Operation] = [
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
  static func changes(_ kind: DamageSamples.Kind, _ copy: String) -> [Operation] {
    let own: [Operation] =
      switch kind {
      case .models: DamageGraph.changes
      case .encrypted: [DamageEncryption.rotation]
      default: []
      }
    return own + changes(kind.collections, copy)
  }

  private static func changes(_ collections: [String], _ copy: String) -> [Operation] {
    let perCollection = collections.flatMap { name -> [Operation] in
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
