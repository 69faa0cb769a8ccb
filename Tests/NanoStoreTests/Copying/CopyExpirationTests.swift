// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@testable import NanoStoreCore

@Suite("Copying documents that expire")
struct CopyExpirationTests {
  private let clock = ManualClock()

  private func date(_ seconds: Double) -> Date {
    Date(timeIntervalSince1970: Double(clock.now()) / 1e6 + seconds)
  }

  /// Returns a collection with ten documents, of which three expire after five seconds, and one after a minute.
  private func sessions() throws -> DocumentCollection {
    let sessions = try anyStore(clock: clock)["sessions"]
    for number in 0..<10 as Range<Int64> {
      try sessions.save(["n": .int(number)], key: "k\(number)")
    }
    for key in ["k2", "k3", "k9"] { try sessions.setExpiration(date(5), of: key) }
    try sessions.setExpiration(date(60), of: "k4")
    return sessions
  }

  @Test(
    "A copy is verified although documents expire while it runs",
    arguments: [CopyProgress.Phase.documents, .indexes, .metadata, .verification])
  func copy(phase: CopyProgress.Phase) throws {
    let sessions = try sessions()
    let target = try anyStore(clock: clock)
    var hasAdvanced = false

    let report = try sessions.store.copy(to: target, CopyOptions(batchDocuments: 4)) { progress in
      guard progress.phase == phase, !hasAdvanced else { return }
      hasAdvanced = true
      clock.advance(by: .seconds(5))
    }

    #expect(hasAdvanced && report.isEqual)
    let keys = ["k0", "k1", "k4", "k5", "k6", "k7", "k8"]
    #expect(try target["sessions"].find().sorted(by: "n").keys() == keys)
    #expect(try target["sessions"].expiration(of: "k4") == sessions.expiration(of: "k4"))
    #expect(try sessions.store.compare(with: target).isEqual)
  }

  @Test("A comparison ignores documents that expire while it runs, and no other difference")
  func compare() throws {
    let sessions = try sessions()
    let target = try anyStore(clock: clock)
    try sessions.store.copy(to: target)
    var hasAdvanced = false
    func report() throws -> CopyReport {
      hasAdvanced = false
      return try sessions.store.compare(with: target) { _ in
        guard !hasAdvanced else { return }
        hasAdvanced = true
        clock.advance(by: .seconds(5))
      }
    }

    let first = try report()
    #expect(first.isEqual && hasAdvanced)

    try target["sessions"].setExpiration(date(20), of: "k4")
    #expect(try !report().isEqual)
    try target["sessions"].delete("k0")
    #expect(try !report().hasEqualDocuments)
  }

  @Test(
    "A document that expires while a comparison runs is a difference if it expires later, or never, in the target",
    arguments: [60, nil] as [Double?])
  func laterExpiration(seconds: Double?) throws {
    let sessions = try sessions()
    // Comparing it determines the time of both snapshots.
    let others = sessions.store["others"]
    try others.save(["n": 1], key: "a")
    try others.setExpiration(date(3_600), of: "a")
    let target = try anyStore(clock: clock)
    try sessions.store.copy(to: target)
    try target["sessions"].setExpiration(seconds.map { date($0) }, of: "k2")
    var hasAdvanced = false

    let report = try sessions.store.compare(with: target) { progress in
      guard progress.collection == "sessions", !hasAdvanced else { return }
      hasAdvanced = true
      clock.advance(by: .seconds(5))
    }

    #expect(hasAdvanced && report.hasEqualDocuments)
    #expect(report.differences.map(\.subject) == ["sessions"])
  }

  @Test(
    "The feed of a copy has the deletions of documents that expire while it runs", .sqlite,
    arguments: [false, true])
  func feedMeanwhile(isUnique: Bool) throws {
    let films = try anyStore(clock: clock)["films"]
    try films.setChangeTracking(.on)
    // Its creation deletes expired documents of the target.
    if isUnique { try films.createIndex("n", unique: true) }
    for (number, key) in ["a", "b", "c", "d"].enumerated() {
      try films.save(["n": .int(Int64(number))], key: key)
    }
    for key in ["b", "d"] { try films.setExpiration(date(5), of: key) }
    let follower = Follower()
    try follower.catchUp(films)
    let target = try anyStore(clock: clock)
    var hasAdvanced = false

    let report = try films.store.copy(to: target) { progress in
      guard progress.phase == .indexes, !hasAdvanced else { return }
      hasAdvanced = true
      clock.advance(by: .seconds(5))
    }
    try target["films"].save(["n": 7], key: "e")
    try follower.catchUp(target["films"])

    #expect(hasAdvanced && report.isEqual)
    #expect(follower.resets == [] && follower.deletedKeys == ["b", "d"])
    #expect(follower.values.values.sorted() == [0, 2, 7])
    #expect(try target.verify() == [])
  }

  @Test("The feed of a copy has the deletions of documents that had expired before it", .sqlite)
  func feed() throws {
    let scratch = try Scratch()
    func open(readOnly: Bool = false) throws -> Store {
      var engine = SQLiteConfiguration()
      engine.clock = clock
      engine.isReadOnly = readOnly
      return try Store(.file(scratch.file("a.db")), engine: engine)
    }
    let follower = Follower()
    try open().using { store in
      let films = store["films"]
      try films.setChangeTracking(.on)
      for (number, key) in ["a", "b", "c", "d"].enumerated() {
        try films.save(["n": .int(Int64(number))], key: key)
      }
      for key in ["b", "d"] { try films.setExpiration(date(5), of: key) }
      try follower.catchUp(films)
    }
    clock.advance(by: .seconds(5))
    // It hides expired documents, and cannot delete them.
    let source = try open(readOnly: true)
    let target = try anyStore(clock: clock)

    #expect(try source.copy(to: target).isEqual)
    try target["films"].save(["n": 7], key: "e")
    try follower.catchUp(target["films"])

    #expect(follower.resets == [] && follower.deletedKeys == ["b", "d"])
    #expect(follower.values.values.sorted() == [0, 2, 7])
    #expect(try target.verify() == [])
  }

  @Test("The target deletes the copied documents when they expire")
  func sweeping() throws {
    let sessions = try sessions()
    let target = try anyStore(clock: clock)

    try sessions.store.copy(to: target)
    target.sweeper.drain()
    clock.advance(by: .seconds(60))
    target.sweeper.drain()

    let stored = try target.engine().read(.call, nil) { reader in
      try reader.expirations(ofRows: Array(1...10), in: "sessions").count
    }
    #expect(stored == 0)
  }

  @Test("A resumed copy has documents that expire later than by the rule of their collection")
  func extended() throws {
    let coupons = try anyStore(clock: clock)["coupons"]
    try coupons.setExpirationRule(.field("until"))
    for key in ["a", "b"] { try coupons.save(["until": .date(date(5))], key: key) }
    let target = try anyStore(clock: clock)
    #expect(throws: Stop.self) {
      try coupons.store.copy(to: target) { if $0.phase == .metadata { throw Stop() } }
    }
    try coupons.setExpiration(date(60), of: "a")
    clock.advance(by: .seconds(5))

    let report = try coupons.store.copy(to: target)

    #expect(report.isContinued && report.isEqual)
    #expect(try target["coupons"].find().keys() == ["a"])
    #expect(try target["coupons"].expiration(of: "a") == coupons.expiration(of: "a"))
    #expect(try target["coupons"].expirationRule() == .field("until"))
  }

  @Test("A resumed copy has documents whose own expiration was extended")
  func extendedWithoutRule() throws {
    let sessions = try anyStore(clock: clock)["sessions"]
    for key in ["a", "b"] { try sessions.save(["n": 1], key: key) }
    try sessions.setExpiration(date(5), of: "a")
    let target = try anyStore(clock: clock)
    #expect(throws: Stop.self) {
      try sessions.store.copy(to: target) { if $0.phase == .metadata { throw Stop() } }
    }
    try sessions.setExpiration(date(60), of: "a")
    clock.advance(by: .seconds(4))
    var hasAdvanced = false

    let report = try sessions.store.copy(to: target) { progress in
      guard progress.phase == .documents, !hasAdvanced else { return }
      hasAdvanced = true
      clock.advance(by: .seconds(5))
      try target.deleteExpired()
    }

    #expect(hasAdvanced && report.isContinued && report.isEqual)
    #expect(try Set(target["sessions"].find().keys()) == ["a", "b"])
    #expect(try target["sessions"].expiration(of: "a") == sessions.expiration(of: "a"))
  }

  @Test(
    "A new document in a copy is not in the bags of an expired one that had its key",
    arguments: [nil, .documents, .bags, .metadata] as [CopyProgress.Phase?])
  func bags(phase: CopyProgress.Phase?) throws {
    let store = try anyStore(clock: clock)
    // Expired documents and their memberships stay in the source.
    store.sweeper.stop()
    let bag = try store.bag(named: "all")
    for key in ["a", "b", "c"] { try bag.add(Document(["n": 1], key: key), in: "sessions") }
    try bag.save()
    for key in ["a", "c"] { try store["sessions"].setExpiration(date(5), of: key) }
    let target = try anyStore(clock: clock)
    if phase == nil { clock.advance(by: .seconds(5)) }
    var hasAdvanced = phase == nil

    let report = try store.copy(to: target) { progress in
      guard progress.phase == phase, !hasAdvanced else { return }
      hasAdvanced = true
      clock.advance(by: .seconds(5))
    }
    let repeated = try store.copy(to: target)
    try target["sessions"].save(["n": 2], key: "a")

    #expect(hasAdvanced && report.isEqual)
    #expect(repeated.isEqual && repeated.copied == 0)
    #expect(try target.bag(named: "all").documents().compactMap(\.key) == ["b"])
  }
}
