// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@testable import nanostore_stress

@Suite("The workload of failing calls")
struct FaultWorkloadTests {
  /// What a store loses although it was acknowledged.
  enum Loss: CaseIterable, Sendable {
    case backup, backupContents, backupDocument, backupCounters, backupFeed
    case document, attachment, rule, counters, raise, feed, feedPosition
    case index, counterIndex, policy, textIndex
  }

  /// Runs the workload without a fault, changes the store, and checks it.
  private func check(after change: (Store, _ backup: String) throws -> Void) throws {
    let folder = try StressTestFolder("workload")
    defer { withExtendedLifetime(folder) {} }
    let path = folder.file("a.db")
    let variant = FaultVariant.wal
    func open(_ path: String) throws -> Store {
      try Store(.file(path), configuration: variant.configuration, engine: variant.engine)
    }
    try FaultWorkload.prepare(open(path), variant)
    var workload = FaultWorkload(
      path: folder.path, variant: variant, fault: Fault.all[0], open: open)
    try workload.run()
    #expect(workload.codes.isEmpty)

    let other = try open(path)
    try change(other, workload.backupPath)
    try other.close()
    try workload.checkAfterwards()
  }

  private func edit(_ path: String, _ change: (Store) throws -> Void) throws {
    let store = try Store(.file(path))
    try change(store)
    try store.close()
  }

  @Test("A store that has everything passes")
  func complete() throws {
    try check { _, _ in }
  }

  @Test("A store that lost something that was acknowledged fails", arguments: Loss.allCases)
  func lost(loss: Loss) {
    #expect(throws: StressTestFailure.self) {
      try check { store, backup in
        let files = store[FaultWorkload.files]
        let counters = store[FaultWorkload.counters]
        let people = store[RoundPlan.people]
        switch loss {
        case .backup: try FileManager.default.removeItem(atPath: backup)
        case .backupContents:
          try FileManager.default.removeItem(atPath: backup)
          try Store(.file(backup)).close()
        case .backupDocument: try edit(backup) { try $0[FaultWorkload.files].delete("one") }
        case .backupCounters: try edit(backup) { try $0[FaultWorkload.counters].deleteAll() }
        case .backupFeed: try edit(backup) { try $0[RoundPlan.people].setChangeTracking(.off) }
        case .document: try files.delete("one")
        case .attachment: try files.attachments(of: "one").remove("a")
        case .rule: try files.setExpirationRule(nil)
        case .counters: try counters.deleteAll()
        case .raise: try counters.find().update(.increment("n", by: -1))
        case .feed: try people.setChangeTracking(.off)
        case .feedPosition:
          try people.setChangeTracking(.off)
          try people.setChangeTracking(.on)
        case .index: try people.dropIndex("extra")
        case .counterIndex:
          let indexed = store[FaultWorkload.indexedCounters]
          for index in try indexed.indexes().prefix(1) { try indexed.dropIndex(index.name) }
        case .policy: try store[RoundPlan.things].setIndexing(.everything)
        case .textIndex: try store[FaultWorkload.stubborn].dropIndex("words")
        }
      }
    }
  }
}
