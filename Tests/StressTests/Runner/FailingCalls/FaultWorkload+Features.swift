// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// The steps other than rounds, each with a check that the store holds what it acknowledged.
extension FaultWorkload {
  struct Features {
    /// The keys that the block that continues after errors may have committed: none before it ended.
    var possibleKeys: Set<[String]> = [[]]
    /// The values that counters may have, by collection; nil if they may not exist.
    var possibleCounts: [String: Set<Int64?>] = [:]
    /// The names of indexes, by collection.
    var indexes: [String: Set<String>] = [:]
    /// Whether the indexing policy of things was set to `declared`.
    var isDeclared = false
    /// Whether the block that continues after errors has a full-text index.
    var hasWords = false
    var isTracked = false
    /// A copy of people by a reader that follows the change feed during the workload.
    var mirror = FeedMirror()
    var hasRule = false
    var hasDocument = false
    var hasAttachment = false
    /// The last acknowledged round when the backup began.
    var backupRound = 0
    var isBackedUp = false

    mutating func note(_ index: IndexDefinition, in collection: String) {
      indexes[collection, default: []].insert(index.name)
    }
  }

  /// Checks that what was acknowledged is present, and everything else is complete or absent.
  mutating func checkFeatures(_ store: Store) throws {
    try checkDefinitions(store)
    try checkContinued(store)
    for name in [Self.counters, Self.indexedCounters] { try checkCounters(store[name]) }
    try checkAttachment(store)
    try checkFeed(store)
  }
}

// MARK: A block that continues after errors

extension FaultWorkload {
  static let stubborn = "stubborn"

  /// Runs a write block that catches every error and continues.
  mutating func continueAfterErrors() throws {
    let isPlain = isPlain
    try step { workload in
      guard let store = workload.store else { return }
      let collection = store[Self.stubborn]
      if isPlain {
        try collection.createFullTextIndex("text", name: "words")
        workload.features.hasWords = true
      }
      var saved: [String] = []
      do {
        try store.write { () -> Void in
          for number in Int64(0)..<8 {
            let key = "k\(number)"
            do {
              try collection.save(
                ["f\(number)": 1, "n": .int(number), "text": .string("w\(number)")], key: key)
              saved.append(key)
              _ = try isPlain ? collection.search("w0").count() : collection.find("[n] < 3").count()
            } catch is StoreError {}
          }
        }
        workload.features.possibleKeys = [saved]
      } catch {
        // The commit may have failed at its last call.
        workload.features.possibleKeys.insert(saved)
        throw error
      }
    }
  }

  /// Checks that the block committed all that it wrote without an error, with index entries, or nothing.
  private mutating func checkContinued(_ store: Store) throws {
    let collection = store[Self.stubborn]
    let keys = try collection.find().sorted(by: "n").keys()
    try require(
      features.possibleKeys.contains(keys),
      "a block that continued after an error is committed in part")
    features.possibleKeys = [keys]
    guard isPlain else { return }
    for key in keys {
      let number = key.dropFirst()
      try require(
        try collection.search("w\(number)").keys() == [key]
          && collection.find("[f\(number)] = 1").keys() == [key], "a document lacks index entries")
    }
  }
}

// MARK: Counters

extension FaultWorkload {
  static let counters = "counters"
  /// A collection of counters with so many indexes that the engine also switches triggers off.
  static let indexedCounters = "indexedCounters"
  /// Large enough for the engine to choose the statement for updates that fire no other trigger.
  private static let counterCount = 40

  mutating func raiseCounters() throws {
    try step { workload in
      guard let store = workload.store else { return }
      try workload.raise(store[Self.counters])
    }
    guard isPlain else { return }
    try step { workload in
      guard let store = workload.store else { return }
      let counters = store[Self.indexedCounters]
      for number in 0..<8 {
        let index = try counters.createIndex("n", "f\(number)")
        workload.features.note(index, in: Self.indexedCounters)
      }
      try workload.raise(counters)
    }
  }

  /// Raises counters twice; the second time, an error does not end the block.
  private mutating func raise(_ counters: DocumentCollection) throws {
    var count: Int64?
    do {
      try counters.store.write { () -> Void in
        try counters.insert((0..<Self.counterCount).map { _ in ["n": 0] })
        try counters.find().update(.increment("n", by: 1))
        count = 1
        do {
          try counters.find().update(.increment("n", by: 1))
          count = 2
        } catch is StoreError {}
      }
      features.possibleCounts[counters.name] = [count]
    } catch {
      // The commit may have failed at its last call.
      features.possibleCounts[counters.name] = [nil, count]
      throw error
    }
  }

  /// Checks that the block was committed completely or not at all, and that each update raised all counters or none,
  /// in the indexes too.
  private mutating func checkCounters(_ counters: DocumentCollection) throws {
    let name = counters.name
    let numbers = try counters.find().fetch().map { $0["n"]?.int64 }
    let count = numbers.first.flatMap(\.self)
    try require(
      features.possibleCounts[name, default: [nil]].contains(count),
      "\(name) have \(count.map { "\($0)" } ?? "no value")")
    features.possibleCounts[name] = [count]
    guard let count else {
      try require(numbers.isEmpty, "\(name) have no value")
      return
    }
    try require(
      try numbers.count == Self.counterCount && numbers.allSatisfy { $0 == count }
        && counters.find(Field("n") == count).count() == Self.counterCount,
      "an update is committed in part")
  }
}

// MARK: Attachments and expiration

extension FaultWorkload {
  static let files = "files"
  private static let rule = ExpirationRule.after(.seconds(86_400))
  /// Large enough for several chunks.
  private static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

  /// Stores an attachment of a document that will expire.
  mutating func attach() throws {
    try step { workload in
      guard let store = workload.store else { return }
      let files = store[Self.files]
      try files.setExpirationRule(Self.rule)
      workload.features.hasRule = true
      try files.save(["n": 1], key: "one")
      workload.features.hasDocument = true
      try files.attach(.data(Self.content), named: "a", to: "one")
      workload.features.hasAttachment = true
      _ = try files.attachments(of: "one").data("a")
      try store.deleteExpired()
    }
  }

  /// Checks that an attachment is complete, or absent if it was not acknowledged.
  private func checkAttachment(_ store: Store) throws {
    let files = store[Self.files]
    if features.hasRule {
      try require(try files.expirationRule() == Self.rule, "an expiration rule is lost")
    }
    guard try files.get("one") != nil else {
      try require(!features.hasDocument, "an acknowledged document is lost")
      return
    }
    let attachments = try files.attachments(of: "one").all()
    try require(
      !features.hasAttachment || attachments.map(\.name) == ["a"],
      "an acknowledged attachment is lost")
    for named in attachments {
      try require(try store.data(of: named.attachment) == Self.content, "an attachment differs")
    }
  }
}
