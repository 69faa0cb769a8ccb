// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@testable import NanoStoreCore

/// The cost model in isolation, with fixed times.
@Suite("Index cost model")
struct IndexCostModelTests {
  private static let city = IndexCandidate(equalities: ["city"])
  private static let byAge = IndexCandidate(
    equalities: ["city"], tail: .order([.init("age", descending: true)]))

  /// Returns a report of a scan over 100,000 documents at 0.2 µs each, 10 of which match.
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

  /// Charges scans until an index is due. Returns the number of scans and the decisions.
  private func scansUntilDue(
    _ model: inout IndexCostModel, _ report: ScanReport
  ) -> (Int, [TuningDecision]) {
    for count in 1...1_000 {
      model.charge(report)
      let due = model.takeDue("c")
      if !due.isEmpty { return (count, due) }
    }
    return (0, [])
  }

  private func buildPlan(_ decisions: [TuningDecision]) -> BuildPlan? {
    guard decisions.count == 1, case .build(let plan) = decisions[0] else { return nil }
    return plan
  }

  @Test("An index is due once scans have cost as much as building it, and is reported once")
  func skiRental() throws {
    var model = IndexCostModel()
    let (scans, decisions) = scansUntilDue(&model, scan())
    let plan = try #require(buildPlan(decisions))

    #expect(plan.index.columns == [.init("city")] && plan.index.origin == .adaptive)
    // Looking up the matching documents is not a saving.
    let saved = 0.02 - 10 * CollectionCostModel.lookUpFactor * 0.2e-6
    let due = plan.seconds * CollectionCostModel.dueShare
    #expect(scans == max(CollectionCostModel.minimumScans, Int(due / saved) + 1))
    #expect(plan.index.reason?.contains("100000 documents") == true)
    model.charge(scan())
    #expect(model.takeDue("c").isEmpty)
  }

  @Test("Small collections, single scans, and scans that match most documents justify no index")
  func notJustified() {
    var model = IndexCostModel()
    model.charge(scan())
    #expect(model.takeDue("c").isEmpty)
    model = IndexCostModel()
    #expect(scansUntilDue(&model, scan(rows: 900)).1.isEmpty)
    model = IndexCostModel()
    #expect(scansUntilDue(&model, scan(matched: 50_000, found: 50_000)).1.isEmpty)
    // Sorting the whole collection is no cheaper with an index.
    model = IndexCostModel()
    let sorted = scan([], order: Self.byAge, matched: 100_000, found: 100_000)
    #expect(scansUntilDue(&model, sorted).1.isEmpty)
  }

  @Test("Build estimates are calibrated by measured builds")
  func calibration() throws {
    var model = IndexCostModel()
    let first = try #require(buildPlan(scansUntilDue(&model, scan()).1))
    model.collections["c"]?.made(first, seconds: first.seconds * 3, documents: 100_000)
    let other = IndexCandidate(equalities: ["name"])
    let second = try #require(buildPlan(scansUntilDue(&model, scan([other])).1))
    #expect((second.seconds / first.seconds * 100).rounded() == 200)
  }

  @Test("A sorted page is served by one compound index if sorting dominates the cost")
  func compound() throws {
    var model = IndexCostModel()
    let costly = scan(order: Self.byAge, matched: 20_000, found: 10)
    let both = try #require(buildPlan(scansUntilDue(&model, costly).1))
    #expect(both.index.columns == [.init("city"), .init("age", descending: true)])
    #expect(Set(both.candidates) == [Self.city, Self.byAge])

    model = IndexCostModel()
    let cheap = scan(order: Self.byAge, matched: 20, found: 10)
    let one = try #require(buildPlan(scansUntilDue(&model, cheap).1))
    #expect(one.index.columns == [.init("city")])
  }

  @Test("Fields that are queried alone lead a compound index")
  func leading() throws {
    var model = IndexCostModel()
    let pair = IndexCandidate(equalities: ["city", "name"])
    model.charge(scan([IndexCandidate(equalities: ["name"])]))
    let plan = try #require(buildPlan(scansUntilDue(&model, scan([pair])).1))
    #expect(plan.index.columns == [.init("name"), .init("city")])
    #expect(plan.candidates.count == 2)
  }

  @Test("An OR condition needs an index for every branch")
  func branches() {
    var model = IndexCostModel()
    let name = IndexCandidate(equalities: ["name"])
    let (_, due) = scansUntilDue(&model, scan([Self.city, name]))
    #expect(due.count == 2)
  }

  @Test("Writes count against a missing index")
  func writes() {
    var model = IndexCostModel()
    for _ in 0..<100 {
      model.charge(scan())
      model.wrote("c", 40_000, commits: 1)
      #expect(model.takeDue("c").isEmpty)
    }
  }

  @Test("An index with costly writes and no queries is dropped, and one in use is kept")
  func dropping() throws {
    var model = IndexCostModel()
    let plan = try #require(buildPlan(scansUntilDue(&model, scan()).1))
    model.collections["c"]?.made(plan, seconds: plan.seconds, documents: 100_000)
    for _ in 0..<100 {
      model.wrote("c", 20_000, commits: 1)
      model.used("c", plan.index.name, 5)
      #expect(model.takeDue("c").isEmpty)
    }
    var written = 0
    while model.takeDue("c").isEmpty {
      model.wrote("c", 10_000, commits: 1)
      written += 10_000
    }
    // Twice the cost of the build: for 10,000 writes, the index entries cost a quarter of a build, and the
    // 1,000 pages as much again.
    #expect((20_000...40_000).contains(written))
  }

  @Test("Alternating workloads do not create and drop an index forever")
  func hysteresis() throws {
    var model = IndexCostModel()
    var made = 0
    var drops = 0
    for _ in 0..<200 {
      for _ in 0..<5 { model.charge(scan()) }
      model.wrote("c", 10_000, commits: 1)
      for _ in 0..<15 { model.wrote("c", 20_000, commits: 1) }
      for _ in 0..<8 { model.charge(scan()) }
      for decision in model.takeDue("c") {
        switch decision {
        case .build(let plan):
          made += 1
          model.collections["c"]?.made(plan, seconds: plan.seconds, documents: 100_000)
        case .drop(let plan):
          drops += 1
          model.collections["c"]?.dropped(plan.index)
        }
      }
    }
    #expect(made <= 7 && drops <= 7, "\(made) \(drops)")
  }

  @Test("A rejected or dropped index has a higher threshold")
  func raisedThreshold() throws {
    var model = IndexCostModel()
    let (first, due) = scansUntilDue(&model, scan())
    model.collections["c"]?.refused(try #require(buildPlan(due)))
    let (second, again) = scansUntilDue(&model, scan())
    #expect(second >= 2 * first)
    model.collections["c"]?.made(try #require(buildPlan(again)), seconds: 0.1, documents: 100_000)
    model.collections["c"]?.dropped(try #require(buildPlan(again)).index.name)
    #expect(scansUntilDue(&model, scan()).0 >= 2 * second)
  }

  @Test("A few scans that began before the build do not mark the index as dropped, but many do")
  func lateScans() throws {
    var model = IndexCostModel()
    let plan = try #require(buildPlan(scansUntilDue(&model, scan()).1))
    model.collections["c"]?.made(plan, seconds: 0.1, documents: 100_000)
    for _ in 0..<8 { model.charge(scan()) }
    model.used("c", plan.index.name, 1)
    for _ in 0..<8 { model.charge(scan()) }
    #expect(model.collections["c"]?.built[ExactName(plan.index.name)] != nil)
    for _ in 0..<8 { model.charge(scan()) }
    #expect(model.collections["c"]?.built.isEmpty == true)
  }

  @Test("The number of pending indexes is limited")
  func maximum() {
    var model = IndexCostModel()
    for number in 0..<30 {
      _ = scansUntilDue(&model, scan([IndexCandidate(equalities: [FieldPath("f\(number)")])]))
    }
    #expect(
      model.collections["c"]?.accounts.values.count { $0.isPending }
        == CollectionCostModel.maximumIndexes)
  }

  @Test("The model is restored from its rows")
  func rows() throws {
    var model = IndexCostModel()
    let plan = try #require(buildPlan(scansUntilDue(&model, scan()).1))
    model.collections["c"]?.made(plan, seconds: 0.1, documents: 100_000)
    model.charge(scan([], order: Self.byAge, matched: 50_000))
    model.used("c", plan.index.name, 7)
    model.wrote("c", 1_000, commits: 1)
    let rows = model.rows(of: "c")
    #expect(rows.count == 4)
    #expect(IndexCostModel(rows: rows).rows(of: "c") == rows)

    var other = IndexCostModel()
    other.charge(scan([], order: Self.byAge, matched: 50_000))
    let account = model.collections["c"]?.accounts[Self.byAge]
    model.add(other)
    #expect(model.collections["c"]?.accounts[Self.byAge]?.scans == (account?.scans ?? 0) + 1)

    other.add(model)
    #expect(other.collections["c"]?.built == model.collections["c"]?.built)
    #expect(other.collections["c"]?.built.count == 1)
  }

  @Test("docs/INDEXING.md states the write cost of an index")
  func documented() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/INDEXING.md")

    let text = try String(contentsOf: page, encoding: .utf8)

    let factor = CollectionCostModel.writeFactor
    #expect(text.contains("costs an index \(factor) times its build per document"))
  }
}
