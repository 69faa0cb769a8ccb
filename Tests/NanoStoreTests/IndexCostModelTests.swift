// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@testable import NanoStoreCore

/// The policy alone, with times that are made up.
@Suite("Ledger of indexes")
struct TuningLedgerTests {
  private static let city = IndexCandidate(equalities: ["city"])
  private static let byAge = IndexCandidate(
    equalities: ["city"], tail: .order([.init("age", descending: true)]))

  /// 100,000 documents at 0.2 microseconds each, of which a scan finds 10.
  private func scan(
    _ condition: [IndexCandidate] = [city], order: IndexCandidate? = nil, rows: Int = 100_000,
    matched: Int = 10, found: Int = 10
  ) -> ScanReport {
    var candidates = IndexCandidates(Query()) { _ in nil }
    candidates.condition = condition
    candidates.order = order
    return ScanReport(
      collection: "c", candidates: candidates, seconds: Double(rows) * 0.2e-6, rows: rows,
      matched: matched, found: found)
  }

  /// How many scans it takes until something is due, and what.
  private func scansUntilDue(
    _ ledger: inout IndexCostModel, _ report: ScanReport
  ) -> (Int, [TuningDecision]) {
    for count in 1...1_000 {
      ledger.charge(report)
      let due = ledger.takeDue("c")
      if !due.isEmpty { return (count, due) }
    }
    return (0, [])
  }

  private func buildPlan(_ decisions: [TuningDecision]) -> BuildPlan? {
    guard decisions.count == 1, case .build(let plan) = decisions[0] else { return nil }
    return plan
  }

  @Test("An index is due when scans have cost as much as building it, and is told once")
  func skiRental() throws {
    var ledger = IndexCostModel()
    let (scans, decisions) = scansUntilDue(&ledger, scan())
    let plan = try #require(buildPlan(decisions))

    #expect(plan.index.columns == [.init("city")] && plan.index.origin == .adaptive)
    // What looking the documents up costs is no saving.
    let saved = 0.02 - 10 * CollectionCostModel.lookUpFactor * 0.2e-6
    let due = plan.seconds * CollectionCostModel.dueShare
    #expect(scans == max(CollectionCostModel.minimumScans, Int(due / saved) + 1))
    #expect(plan.index.reason?.contains("100000 documents") == true)
    ledger.charge(scan())
    #expect(ledger.takeDue("c").isEmpty)
  }

  @Test("Small collections, single scans and scans that find most of it make nothing")
  func notWorthIt() {
    var ledger = IndexCostModel()
    ledger.charge(scan())
    #expect(ledger.takeDue("c").isEmpty)
    ledger = IndexCostModel()
    #expect(scansUntilDue(&ledger, scan(rows: 900)).1.isEmpty)
    ledger = IndexCostModel()
    #expect(scansUntilDue(&ledger, scan(matched: 50_000, found: 50_000)).1.isEmpty)
    // Sorting all of it is no cheaper with an index.
    ledger = IndexCostModel()
    let sorted = scan([], order: Self.byAge, matched: 100_000, found: 100_000)
    #expect(scansUntilDue(&ledger, sorted).1.isEmpty)
  }

  @Test("The estimate learns from builds")
  func calibration() throws {
    var ledger = IndexCostModel()
    let first = try #require(buildPlan(scansUntilDue(&ledger, scan()).1))
    ledger.collections["c"]?.made(first, seconds: first.seconds * 3, documents: 100_000)
    let other = IndexCandidate(equalities: ["name"])
    let second = try #require(buildPlan(scansUntilDue(&ledger, scan([other])).1))
    #expect((second.seconds / first.seconds * 100).rounded() == 200)
  }

  @Test("A page that is sorted is served by one index on both, if sorting is what costs")
  func compound() throws {
    var ledger = IndexCostModel()
    let costly = scan(order: Self.byAge, matched: 20_000, found: 10)
    let both = try #require(buildPlan(scansUntilDue(&ledger, costly).1))
    #expect(both.index.columns == [.init("city"), .init("age", descending: true)])
    #expect(Set(both.candidates) == [Self.city, Self.byAge])

    ledger = IndexCostModel()
    let cheap = scan(order: Self.byAge, matched: 20, found: 10)
    let one = try #require(buildPlan(scansUntilDue(&ledger, cheap).1))
    #expect(one.index.columns == [.init("city")])
  }

  @Test("Fields that are asked for alone come first")
  func leading() throws {
    var ledger = IndexCostModel()
    let pair = IndexCandidate(equalities: ["city", "name"])
    ledger.charge(scan([IndexCandidate(equalities: ["name"])]))
    let plan = try #require(buildPlan(scansUntilDue(&ledger, scan([pair])).1))
    #expect(plan.index.columns == [.init("name"), .init("city")])
    #expect(plan.candidates.count == 2)
  }

  @Test("A choice has every branch made")
  func branches() {
    var ledger = IndexCostModel()
    let name = IndexCandidate(equalities: ["name"])
    let (_, due) = scansUntilDue(&ledger, scan([Self.city, name]))
    #expect(due.count == 2)
  }

  @Test("Writes count against an index that is missing")
  func writes() {
    var ledger = IndexCostModel()
    for _ in 0..<100 {
      ledger.charge(scan())
      ledger.wrote("c", 40_000, commits: 1)
      #expect(ledger.takeDue("c").isEmpty)
    }
  }

  @Test("An index that writes pay for and no query uses is dropped; one that is used stays")
  func dropping() throws {
    var ledger = IndexCostModel()
    let plan = try #require(buildPlan(scansUntilDue(&ledger, scan()).1))
    ledger.collections["c"]?.made(plan, seconds: plan.seconds, documents: 100_000)
    for _ in 0..<100 {
      ledger.wrote("c", 20_000, commits: 1)
      ledger.used("c", plan.index.name, 5)
      #expect(ledger.takeDue("c").isEmpty)
    }
    var written = 0
    while ledger.takeDue("c").isEmpty {
      ledger.wrote("c", 10_000, commits: 1)
      written += 10_000
    }
    // Twice what building took: 10,000 writes cost a quarter of it for their entries, and as much again for
    // 1,000 pages.
    #expect((20_000...40_000).contains(written))
  }

  @Test("Workloads in turn do not have an index made and dropped for ever")
  func hysteresis() throws {
    var ledger = IndexCostModel()
    var made = 0
    var drops = 0
    for _ in 0..<200 {
      for _ in 0..<5 { ledger.charge(scan()) }
      ledger.wrote("c", 10_000, commits: 1)
      for _ in 0..<15 { ledger.wrote("c", 20_000, commits: 1) }
      for _ in 0..<8 { ledger.charge(scan()) }
      for decision in ledger.takeDue("c") {
        switch decision {
        case .build(let plan):
          made += 1
          ledger.collections["c"]?.made(plan, seconds: plan.seconds, documents: 100_000)
        case .drop(let plan):
          drops += 1
          ledger.collections["c"]?.dropped(plan.index)
        }
      }
    }
    #expect(made <= 7 && drops <= 7, "\(made) \(drops)")
  }

  @Test("What was refused or dropped has to show more")
  func hurdles() throws {
    var ledger = IndexCostModel()
    let (first, due) = scansUntilDue(&ledger, scan())
    ledger.collections["c"]?.refused(try #require(buildPlan(due)))
    let (second, again) = scansUntilDue(&ledger, scan())
    #expect(second >= 2 * first)
    ledger.collections["c"]?.made(try #require(buildPlan(again)), seconds: 0.1, documents: 100_000)
    ledger.collections["c"]?.dropped(try #require(buildPlan(again)).index.name)
    #expect(scansUntilDue(&ledger, scan()).0 >= 2 * second)
  }

  @Test("A scan that began before the index was made does not take it for dropped; many do")
  func late() throws {
    var ledger = IndexCostModel()
    let plan = try #require(buildPlan(scansUntilDue(&ledger, scan()).1))
    ledger.collections["c"]?.made(plan, seconds: 0.1, documents: 100_000)
    for _ in 0..<8 { ledger.charge(scan()) }
    ledger.used("c", plan.index.name, 1)
    for _ in 0..<8 { ledger.charge(scan()) }
    #expect(ledger.collections["c"]?.built[ExactName(plan.index.name)] != nil)
    for _ in 0..<8 { ledger.charge(scan()) }
    #expect(ledger.collections["c"]?.built.isEmpty == true)
  }

  @Test("There are never more than a few")
  func maximum() {
    var ledger = IndexCostModel()
    for number in 0..<30 {
      _ = scansUntilDue(&ledger, scan([IndexCandidate(equalities: [FieldPath("f\(number)")])]))
    }
    #expect(
      ledger.collections["c"]?.accounts.values.count { $0.isPending }
        == CollectionCostModel.maximumIndexes)
  }

  @Test("What is kept in rows is read back")
  func rows() throws {
    var ledger = IndexCostModel()
    let plan = try #require(buildPlan(scansUntilDue(&ledger, scan()).1))
    ledger.collections["c"]?.made(plan, seconds: 0.1, documents: 100_000)
    ledger.charge(scan([], order: Self.byAge, matched: 50_000))
    ledger.used("c", plan.index.name, 7)
    ledger.wrote("c", 1_000, commits: 1)
    let rows = ledger.rows(of: "c")
    #expect(rows.count == 4)
    #expect(IndexCostModel(rows: rows).rows(of: "c") == rows)

    var other = IndexCostModel()
    other.charge(scan([], order: Self.byAge, matched: 50_000))
    let account = ledger.collections["c"]?.accounts[Self.byAge]
    ledger.add(other)
    #expect(ledger.collections["c"]?.accounts[Self.byAge]?.scans == (account?.scans ?? 0) + 1)
  }
  @Test("docs/INDEXING.md states what a write costs an index")
  func documented() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/INDEXING.md")

    let text = try String(contentsOf: page, encoding: .utf8)

    let factor = CollectionCostModel.writeFactor
    #expect(text.contains("costs an index \(factor) times its build per document"))
  }
}
