// SPDX-License-Identifier: MIT

import NanoStore

// MARK: Indexes

extension FaultWorkload {
  /// Checks that acknowledged indexes and policies are present. Those of notes are not, because rounds drop that
  /// collection.
  func checkDefinitions(_ store: Store) throws {
    for (collection, names) in features.indexes {
      let found = Set(try store[collection].indexes().map(\.name))
      try require(
        names.isSubset(of: found),
        "\(collection) lost the indexes \(names.subtracting(found).sorted())")
    }
    if features.isDeclared {
      let policy = try store[RoundPlan.things].indexing()
      try require(policy == .declared, "an acknowledged indexing policy is \(policy)")
    }
    if features.hasWords {
      let names = try store[Self.stubborn].fullTextIndexes().map(\.name)
      try require(names == ["words"], "an acknowledged full-text index is lost")
    }
  }
}

// MARK: Change feeds and backups

extension FaultWorkload {
  var backupPath: String { path + "/b.db" }

  mutating func trackChanges() throws {
    try step { workload in
      guard let store = workload.store else { return }
      try store[RoundPlan.people].setChangeTracking(.on)
      workload.features.isTracked = true
    }
  }

  /// Lets the reader of the change feed continue. After a failing call, it must not miss an entry.
  mutating func followFeed() throws {
    try step { workload in
      guard let store = workload.store else { return }
      let people = store[RoundPlan.people]
      guard try people.changeTracking() == .on else { return }
      try workload.features.mirror.follow(people)
    }
  }

  /// Checks that the change feed leads its reader to the documents.
  mutating func checkFeed(_ store: Store) throws {
    let people = store[RoundPlan.people]
    guard try people.changeTracking() == .on else {
      try require(!features.isTracked, "an acknowledged change feed is off")
      return
    }
    try features.mirror.follow(people)
    let agrees = try features.mirror.agrees(with: people)
    try require(agrees, "the change feed differs from its collection")
  }

  mutating func backUp() throws {
    try step { workload in
      guard let store = workload.store else { return }
      workload.features.backupRound = workload.expectedState.round
      try store.backup(to: workload.backupPath)
      workload.features.isBackedUp = true
    }
  }
}
