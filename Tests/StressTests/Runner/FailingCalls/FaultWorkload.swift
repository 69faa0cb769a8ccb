// SPDX-License-Identifier: MIT

import CFaults
import Foundation
import NanoStoreEncryption
import NanoTesting

/// A workload with every kind of operation, each of which may fail.
struct FaultWorkload {
  static let plan = RoundPlan(seed: 5, batch: 40, largest: 12_000)
  /// The number of rounds executed before the workload.
  static let prepared = 12

  private let path: String
  private let variant: FaultVariant
  private let fault: Fault
  private let open: (String) throws -> Store
  private var store: Store?
  private var expectedState = ExpectedState()
  /// The keys that the block that continues after errors may have committed: none before it ended.
  private var possibleKeys: Set<[String]> = [[]]
  /// Whether the next round may be present although its commit failed.
  private var mayHoldNextRound = false
  /// The error codes of the failed steps.
  private(set) var codes: [StoreError.Code] = []

  init(
    path: String, variant: FaultVariant, fault: Fault, open: @escaping (String) throws -> Store
  ) {
    self.path = path
    self.fault = fault
    self.variant = variant
    self.open = open
    expectedState.advance(to: Self.prepared, Self.plan)
  }

  private var isPlain: Bool { variant != .encrypted }

  mutating func run() throws {
    try step { workload in workload.store = try workload.open(workload.path + "/a.db") }
    try stepOnStore { store, _ in try store[RoundPlan.people].setChangeTracking(.on) }
    for _ in 0..<4 { try commitRound() }
    try stepOnStore { store, _ in try Self.attach(store) }
    try stepOnStore { store, _ in
      let people = store[RoundPlan.people]
      guard try people.changeTracking() == .on else { return }
      _ = try people.changes(since: nil, withDocuments: true)
    }
    try stepOnStore { store, _ in
      let people = store[RoundPlan.people]
      _ = try people.find(Field("group") >= 3).sorted(by: "-n", "name").limit(5).fetch()
      _ = try people.find().count()
      _ = try store.bags()
    }
    if isPlain {
      try stepOnStore { store, _ in
        try store[RoundPlan.people].createIndex("n", elements: false, name: "extra")
      }
      try stepOnStore { store, _ in try store[RoundPlan.things].setIndexing(.declared) }
      try stepOnStore { store, _ in
        try store[RoundPlan.notes].createFullTextIndex("title", name: "words")
        _ = try store[RoundPlan.notes].search("winter").count()
      }
    } else {
      try stepOnStore { store, _ in try store.rotateKeys() }
    }
    try commitRound()
    try continueAfterErrors()
    try stepOnStore { store, _ in try Self.raise(store[Self.counters]) }
    if isPlain { try stepOnStore { store, _ in try Self.raiseIndexed(store) } }
    try stepOnStore { store, path in try store.backup(to: path + "/b.db") }
    try stepOnStore { store, _ in try store.compact() }
    try stepOnStore { store, _ in _ = try store.verify() }
    try commitRound()
    try stepOnStore { store, _ in
      // close() closes the store even if it throws.
      try store.close()
    }
    try step { workload in
      // The write-ahead log may hold a commit whose last call failed.
      workload.mayHoldNextRound = true
      try workload.store?.reopen()
    }
    try commitRound()
  }

  private static let stubborn = "stubborn"

  /// Runs a write block that catches every error and continues.
  private mutating func continueAfterErrors() throws {
    let isPlain = isPlain
    try step { workload in
      guard let store = workload.store else { return }
      let collection = store[Self.stubborn]
      if isPlain { try collection.createFullTextIndex("text", name: "words") }
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
        workload.possibleKeys = [saved]
      } catch {
        // The commit may have failed at its last call.
        workload.possibleKeys.insert(saved)
        throw error
      }
    }
  }

  /// Checks that the block committed all that it wrote without an error, with index entries, or nothing.
  private mutating func checkContinued(_ store: Store) throws {
    let collection = store[Self.stubborn]
    let keys = try collection.find().sorted(by: "n").keys()
    try require(
      possibleKeys.contains(keys), "a block that continued after an error is committed in part")
    possibleKeys = [keys]
    guard try isPlain && store.collections().contains(where: { $0.name == Self.stubborn }) else {
      return
    }
    guard try !collection.fullTextIndexes().isEmpty else { return }
    for key in keys {
      let number = key.dropFirst()
      try require(
        try collection.search("w\(number)").keys() == [key]
          && collection.find("[f\(number)] = 1").keys() == [key], "a document lacks index entries")
    }
  }

  private static let counters = "counters"
  /// A collection of counters with so many indexes that the engine also switches triggers off.
  private static let indexedCounters = "indexedCounters"
  /// Large enough for the engine to choose the statement for updates that fire no other trigger.
  private static let counterCount = 40

  /// Raises counters twice; the second time, an error does not end the block.
  private static func raise(_ counters: DocumentCollection) throws {
    try counters.store.write { () -> Void in
      if try counters.count() == 0 {
        try counters.insert((0..<counterCount).map { _ in ["n": 0] })
      }
      try counters.find().update(.increment("n", by: 1))
      do { try counters.find().update(.increment("n", by: 1)) } catch is StoreError {}
    }
  }

  private static func raiseIndexed(_ store: Store) throws {
    let counters = store[indexedCounters]
    for number in 0..<8 { try counters.createIndex("n", "f\(number)") }
    try raise(counters)
  }

  /// Checks that each update raised all counters or none, in the indexes too.
  private static func check(_ counters: DocumentCollection) throws {
    let numbers = try counters.find().fetch().map { $0["n"] }
    guard let number = numbers.first else { return }
    try require(
      try numbers.count == counterCount && numbers.allSatisfy { $0 == number }
        && counters.find(Field("n") == number).count() == counterCount,
      "an update is committed in part")
  }

  private static let files = "files"
  /// Large enough for several chunks.
  private static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

  /// Stores an attachment of a document that will expire.
  private static func attach(_ store: Store) throws {
    let files = store[Self.files]
    try files.setExpirationRule(.after(.seconds(86_400)))
    try files.save(["n": 1], key: "one")
    try files.attach(.data(content), named: "a", to: "one")
    _ = try files.attachments(of: "one").data("a")
    try store.deleteExpired()
  }

  /// Checks that an attachment is complete or absent, and that a change feed leads to the documents.
  private mutating func checkFeatures(_ store: Store) throws {
    try checkContinued(store)
    try Self.check(store[Self.counters])
    try Self.check(store[Self.indexedCounters])
    let files = store[Self.files]
    if try files.get("one") != nil {
      for named in try files.attachments(of: "one").all() {
        try require(
          try store.data(of: named.attachment) == Self.content, "an attachment differs")
      }
    }
    let people = store[RoundPlan.people]
    guard try people.changeTracking() == .on else { return }
    var mirror = FeedMirror()
    try mirror.follow(people)
    try require(try mirror.agrees(with: people), "the change feed differs from its collection")
  }

  /// Runs a step that may fail only with an expected ``StoreError``.
  private mutating func step(_ work: (inout FaultWorkload) throws -> Void) throws {
    do { try work(&self) } catch let error as StoreError {
      codes.append(error.code)
      try require(
        expected.contains(error.code), "a failing call causes \(error.debugDescription)")
    } catch let error as StressTestFailure {
      throw error
    } catch {
      throw StressTestFailure("a failing call causes \(type(of: error)): \(error)")
    }
  }

  private mutating func stepOnStore(_ work: (Store, String) throws -> Void) throws {
    try step { workload in
      guard let store = workload.store else { return }
      try work(store, workload.path)
    }
  }

  /// The permitted error codes. In particular, a fault must not be mistaken for damage or a lock.
  private var expected: Set<StoreError.Code> {
    let codes: Set<StoreError.Code> = [.inputOutput, .full, .cannotOpen, .outOfMemory, .closed]
    // In some places, such as the freelist, SQLite treats a page that it could not read as damaged.
    return fault.kinds == UInt32(FAULTS_READ) ? codes.union([.corruptFile]) : codes
  }

  /// Executes a round. A failed round changes nothing and is repeated as the next one.
  private mutating func commitRound() throws {
    try step { workload in
      guard let store = workload.store else { return }
      let round = Self.plan.round(workload.expectedState.round + 1)
      // A read may meet the fault.
      let last = try? store.lastRound()
      do {
        try store.commit(round, hasUniqueNames: workload.isPlain)
      } catch let error as StoreError {
        try workload.noteFailedCommit(store, after: last)
        throw error
      }
      workload.expectedState.apply(round)
      workload.mayHoldNextRound = false
    }
  }

  /// Checks that a failed commit is rolled back in the running process.
  private mutating func noteFailedCommit(_ store: Store, after last: Int?) throws {
    // With a rollback journal, SQLite syncs the folder and truncates the file after the journal is deleted, which is
    // the commit, and reports their failures.
    let isLate = [UInt32(FAULTS_SYNC), UInt32(FAULTS_TRUNCATE)].contains(fault.kinds)
    if variant == .journal, isLate {
      mayHoldNextRound = true
      return
    }
    guard let last, let found = try? store.lastRound() else { return }
    try require(found == last, "after a failed commit, the last round is \(found), not \(last)")
  }

  /// Checks the store once calls succeed again. It contains what was acknowledged, holds no locks and accepts further
  /// rounds, and so does a reopened store.
  mutating func checkAfterwards() throws {
    if let store {
      if store.isClosed {
        try store.reopen()
        mayHoldNextRound = true
      }
      if mayHoldNextRound { try settle(store) }
      let other = try open(path + "/a.db")
      try other.setMetadata(1, "entry1")
      try other.close()
      try store.setMetadata(expectedState.metadata["entry1"], "entry1")
      try check(store)
      try store.close()
    }
    let store = try open(path + "/a.db")
    try settle(store)
    try check(store)
    try store.close()
    if FileManager.default.fileExists(atPath: path + "/b.db") {
      let backup = try open(path + "/b.db")
      var past = ExpectedState()
      past.advance(to: try backup.lastRound(), Self.plan)
      try past.check(backup, indexed: isPlain)
      try backup.close()
    }
  }

  /// Accounts for a commit whose last call failed. It may be present once the file is opened again, because the
  /// write-ahead log is then complete. Nothing else may be.
  private mutating func settle(_ store: Store) throws {
    if try store.lastRound() == expectedState.round + 1 {
      expectedState.apply(Self.plan.round(expectedState.round + 1))
    }
  }

  private mutating func check(_ store: Store) throws {
    try checkFeatures(store)
    try expectedState.check(store, indexed: isPlain)
    let round = Self.plan.round(expectedState.round + 1)
    try store.commit(round, hasUniqueNames: isPlain)
    expectedState.apply(round)
    try checkFeatures(store)
    try expectedState.check(store, indexed: isPlain)
  }
}
