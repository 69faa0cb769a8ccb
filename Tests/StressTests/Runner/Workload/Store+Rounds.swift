// SPDX-License-Identifier: MIT

import NanoStore

extension Store {
  /// Creates the indexes and settings of the stress tests, except for encrypted stores, which do not support them.
  func prepareCollections() throws {
    let people = self[RoundPlan.people]
    try people.createIndex("name", unique: true, elements: false)
    try people.createIndex("group", "-n", elements: false)
    try people.createIndex("tags", elements: true)
    try people.createFullTextIndex("title")
    try self[RoundPlan.things].createIndex("tags", elements: true)
    try self[RoundPlan.things].setIndexing(.everything)
    try self[RoundPlan.things].setDefaults(["n": -1])
  }

  /// The number of the last committed round.
  func lastRound() throws -> Int { try metadata("round")?.int.map { Int($0) } ?? 0 }

  /// Executes the changes of a round in one transaction.
  ///
  /// - Parameter hasUniqueNames: Whether the names of people are unique.
  func commit(_ round: Round, hasUniqueNames: Bool = true) throws {
    try write {
      for change in round.changes where hasUniqueNames || !change.needsUniqueNames {
        try apply(change)
      }
      try setMetadata(.int(Int64(round.number)), "round")
    }
  }

  private func apply(_ change: Change) throws {
    switch change {
    case .save(let collection, let key, let object): try self[collection].save(object, key: key)
    case .update(let collection, let key, let field, let value):
      guard try self[collection].get(key) != nil else { return }
      try self[collection].update(key, set: [FieldPath(components: [field]): value])
    case .remove(let collection, let key): try self[collection].delete(key)
    case .removeGroup(let collection, let group):
      try self[collection].find(Field("group") == group).delete()
    case .drop(let collection): try self[collection].drop()
    case .refused(let collection, let name): try insertRefused(collection, name)
    case .fillBag(let name, let keys):
      let bag = try bag(named: name)
      try bag.add(keys.compactMap { try self[RoundPlan.people].get($0) })
      try bag.save()
    case .emptyBag(let name): try bag(named: name).delete()
    case .metadata(let name, let value): try setMetadata(value, name)
    }
  }

  private func insertRefused(_ collection: String, _ name: String) throws {
    guard try self[collection].find(Field("name") == name).count() > 0 else { return }
    do {
      try self[collection].insert(["name": .string(name), "tags": ["a"]], key: "refused")
    } catch let error as StoreError where error.code == .uniqueViolation {
      return
    }
    throw StressTestFailure("a unique index accepted \(name) twice")
  }
}

extension Change {
  fileprivate var needsUniqueNames: Bool { if case .refused = self { true } else { false } }
}
