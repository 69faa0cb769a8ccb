// SPDX-License-Identifier: MIT

import CFaults
import Foundation
import NanoStoreEncryption
import NanoTesting

/// Something of everything that a store does, each step of which may fail.
struct FaultWorkload {
  static let plan = RoundPlan(seed: 5, batch: 40, largest: 12_000)
  /// Rounds that are in the store before.
  static let prepared = 12

  private let path: String
  private let variant: FaultVariant
  private let fault: Fault
  private let open: (String) throws -> Store
  private var store: Store?
  private var ledger = Ledger()
  /// What the steps that failed failed with.
  private(set) var codes: [StoreError.Code] = []

  init(
    path: String, variant: FaultVariant, fault: Fault, open: @escaping (String) throws -> Store
  ) {
    self.path = path
    self.fault = fault
    self.variant = variant
    self.open = open
    ledger.play(to: Self.prepared, Self.plan)
  }

  private var isPlain: Bool { variant != .encrypted }

  mutating func run() throws {
    try step { workload in workload.store = try workload.open(workload.path + "/a.db") }
    for _ in 0..<4 { try playRound() }
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
        try store[RoundPlan.notes].createTextIndex("title", name: "words")
        _ = try store[RoundPlan.notes].search("winter").count()
      }
    } else {
      try stepOnStore { store, _ in try store.rotateKeys() }
    }
    try playRound()
    try stepOnStore { store, path in try store.backup(to: path + "/b.db") }
    try stepOnStore { store, _ in try store.compact() }
    try stepOnStore { store, _ in _ = try store.verify() }
    try playRound()
    try stepOnStore { store, _ in
      // Closed even if it says that something failed.
      try store.close()
    }
    try stepOnStore { store, _ in try store.reopen() }
    try playRound()
  }

  /// Runs a step; it may fail only with an error of ours.
  private mutating func step(_ work: (inout FaultWorkload) throws -> Void) throws {
    do { try work(&self) } catch let error as StoreError {
      codes.append(error.code)
      try require(
        expected.contains(error.code), "a failing call shows as \(error.debugDescription)")
    } catch let error as TrialFailure {
      throw error
    } catch {
      throw TrialFailure("a failing call shows as \(type(of: error)): \(error)")
    }
  }

  private mutating func stepOnStore(_ work: (Store, String) throws -> Void) throws {
    try step { workload in
      guard let store = workload.store else { return }
      try work(store, workload.path)
    }
  }

  /// What such an error may be. Above all, it is not taken for damage or for a lock.
  private var expected: Set<StoreError.Code> {
    let codes: Set<StoreError.Code> = [.inputOutput, .full, .cannotOpen, .outOfMemory, .closed]
    // SQLite takes a page that it could not read for a damaged one in some places, such as its list of free pages.
    return fault.kinds == UInt32(FAULTS_READ) ? codes.union([.corruptFile]) : codes
  }

  /// A round that fails changes nothing, and is tried again as the next one.
  private mutating func playRound() throws {
    try step { workload in
      guard let store = workload.store else { return }
      let round = Self.plan.round(workload.ledger.round + 1)
      try store.play(round, hasUniqueNames: workload.isPlain)
      workload.ledger.play(round)
    }
  }

  /// Now that calls succeed again: the store holds what was acknowledged, locks nobody out, takes further rounds,
  /// and so does one that is opened anew.
  mutating func checkAfterwards() throws {
    if let store {
      if store.isClosed { try store.reopen() }
      try settle(store)
      let other = try open(path + "/a.db")
      try other.setMetadata(1, "entry1")
      try other.close()
      try store.setMetadata(ledger.metadata["entry1"], "entry1")
      try check(store)
      try store.close()
    }
    let store = try open(path + "/a.db")
    try settle(store)
    try check(store)
    try store.close()
    if FileManager.default.fileExists(atPath: path + "/b.db") {
      let backup = try open(path + "/b.db")
      var past = Ledger()
      past.play(to: try backup.lastRound(), Self.plan)
      try past.check(backup, indexed: isPlain)
      try backup.close()
    }
  }

  /// A commit whose last call failed may be there all the same once the file is opened anew: what is written
  /// ahead is complete then. Nothing beyond that one.
  private mutating func settle(_ store: Store) throws {
    if try store.lastRound() == ledger.round + 1 {
      ledger.play(Self.plan.round(ledger.round + 1))
    }
  }

  private mutating func check(_ store: Store) throws {
    try ledger.check(store, indexed: isPlain)
    let round = Self.plan.round(ledger.round + 1)
    try store.play(round, hasUniqueNames: isPlain)
    ledger.play(round)
    try ledger.check(store, indexed: isPlain)
  }
}
