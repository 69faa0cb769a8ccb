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

  let path: String
  private let variant: FaultVariant
  private let fault: Fault
  private let open: (String) throws -> Store
  private(set) var store: Store?
  private(set) var expectedState = ExpectedState()
  /// What the steps other than rounds acknowledged.
  var features = Features()
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

  /// Fills a store, from which the workload starts, and closes it.
  static func prepare(_ store: Store, _ variant: FaultVariant) throws {
    if variant != .encrypted { try store.prepareCollections() }
    for number in 1...prepared {
      try store.commit(plan.round(number), hasUniqueNames: variant != .encrypted)
    }
    try store.close()
  }

  var isPlain: Bool { variant != .encrypted }

  mutating func run() throws {
    try step { workload in workload.store = try workload.open(workload.path + "/a.db") }
    try trackChanges()
    try followFeed()
    for _ in 0..<4 { try commitRound() }
    try attach()
    try stepOnStore { store in
      let people = store[RoundPlan.people]
      _ = try people.find(Field("group") >= 3).sorted(by: "-n", "name").limit(5).fetch()
      _ = try people.find().count()
      _ = try store.bags()
    }
    if isPlain {
      try step { workload in
        guard let store = workload.store else { return }
        let index = try store[RoundPlan.people].createIndex("n", elements: false, name: "extra")
        workload.features.note(index, in: RoundPlan.people)
      }
      try step { workload in
        guard let store = workload.store else { return }
        try store[RoundPlan.things].setIndexing(.declared)
        workload.features.isDeclared = true
      }
      try stepOnStore { store in
        try store[RoundPlan.notes].createFullTextIndex("title", name: "words")
        _ = try store[RoundPlan.notes].search("winter").count()
      }
    } else {
      try stepOnStore { store in try store.rotateKeys() }
    }
    try commitRound()
    try continueAfterErrors()
    try raiseCounters()
    try backUp()
    try stepOnStore { store in try store.compact() }
    try stepOnStore { store in _ = try store.verify() }
    try commitRound()
    try stepOnStore { store in
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

  /// Runs a step that may fail only with an expected ``StoreError``.
  mutating func step(_ work: (inout FaultWorkload) throws -> Void) throws {
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

  private mutating func stepOnStore(_ work: (Store) throws -> Void) throws {
    try step { workload in
      if let store = workload.store { try work(store) }
    }
  }

  /// The permitted error codes. In particular, a fault must not be mistaken for damage or a lock.
  private var expected: Set<StoreError.Code> {
    let codes: Set<StoreError.Code> = [.inputOutput, .full, .cannotOpen, .outOfMemory, .closed]
    // In some places, such as the freelist, SQLite treats a page that it could not read as damaged.
    return fault.kinds == UInt32(FAULTS_READ) ? codes.union([.corruptFile]) : codes
  }

  /// Executes a round, and lets the reader of the change feed continue. A failed round changes nothing and is repeated
  /// as the next one.
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
    try followFeed()
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
    try checkBackup()
  }

  /// Checks that an acknowledged backup has everything that was acknowledged before it began, and any other one is the
  /// store after a round.
  private mutating func checkBackup() throws {
    guard FileManager.default.fileExists(atPath: backupPath) else {
      try require(!features.isBackedUp, "an acknowledged backup does not exist")
      return
    }
    let backup = try open(backupPath)
    var past = ExpectedState()
    past.advance(to: try backup.lastRound(), Self.plan)
    try require(
      past.round >= features.backupRound,
      "a backup has round \(past.round), not \(features.backupRound)")
    try past.check(backup, indexed: isPlain)
    if features.isBackedUp {
      // The feeds of a backup begin again. Nothing else in the features changes after it.
      features.mirror = FeedMirror()
      try checkFeatures(backup)
    }
    try backup.close()
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
