// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import Synchronization
import Testing

@Suite("Scan reports")
struct ScanReportTests {
  private final class ReportLog: Sendable {
    let reports = Mutex<[ScanReport]>([])
    let writes = Mutex<[String: Int]>([:])
    let waits = Atomic(0)

    func take() -> [ScanReport] {
      reports.withLock { reports in
        defer { reports = [] }
        return reports
      }
    }
  }

  private let reportLog = ReportLog()
  private let observer: QueryObserver
  private let engine: SQLiteEngine

  init() throws {
    let reportLog = reportLog
    observer = QueryObserver(
      minimumRows: 1_000,
      scanned: { report in reportLog.reports.withLock { $0.append(report) } },
      written: { name, count, _ in reportLog.writes.withLock { $0[name, default: 0] += count } },
      writerWaits: { reportLog.waits.wrappingAdd(1, ordering: .relaxed) })
    engine = try SQLiteEngine(.memory, SQLiteConfiguration(), observer: observer)
    try fill("many", 1_500)
    try fill("few", 900)
    // The first scan switches timing on.
    for name in ["many", "few"] {
      _ = try engine.read(.call, nil) { try $0.count(Query(Field("third") == 1), in: name) }
    }
    _ = reportLog.take()
  }

  private func fill(_ collection: String, _ count: Int) throws {
    try engine.write(nil) { writer in
      for number in 0..<count {
        var json = JSONWriter()
        json.value(["n": .int(Int64(number)), "third": .int(Int64(number % 3))])
        try json.bytes.withUnsafeBytes {
          _ = try writer.insert(NewDocument(key: nil, added: 0, body: $0), into: collection)
        }
      }
    }
  }

  @Test("Every kind of query that scans many documents is reported, with its result counts")
  func scans() throws {
    let query = Query(Field("third") == 1)
    try engine.read(.call, nil) { try $0.find(query, in: "many") { _ in true } }
    _ = try engine.read(.call, nil) { try $0.count(query, in: "many") }
    _ = try engine.read(.call, nil) {
      try $0.aggregate(AggregateQuery(query, aggregates: [.sum("n")]), in: "many")
    }
    _ = try engine.read(.call, nil) { try $0.distinct("n", query, in: "many") }
    _ = try engine.write(nil) { try $0.delete(query, from: "many") }

    let reports = reportLog.take()
    #expect(reports.count == 5)
    for report in reports {
      #expect(report.collection == "many" && report.rows >= 1_499 && report.seconds > 0)
      #expect(report.found == 500 && report.matched == 500)
      #expect(report.candidates.condition == [IndexCandidate(equalities: ["third"])])
    }
    #expect(reports.map(\.isRemoval) == [false, false, false, false, true])
  }

  @Test("A sorted page is reported with the number of matches beyond the page")
  func pages() throws {
    let query = Query(Field("third") == 1, orderings: [.reverse("n")], limit: 10)
    try engine.read(.call, nil) { try $0.find(query, in: "many") { _ in true } }
    let report = try #require(reportLog.take().first)
    #expect(report.found == 10 && report.matched == 500)
    #expect(
      report.candidates.order
        == IndexCandidate(equalities: ["third"], tail: .order([.init("n", descending: true)])))

    // With an index on the condition, only the ordering is missing.
    try engine.write(nil) {
      try $0.createIndex(IndexDefinition(columns: [.init("third")]), in: "many")
    }
    for _ in 0..<2 {
      try engine.read(.call, nil) { try $0.find(query, in: "many") { _ in true } }
    }
    let sorted = try #require(reportLog.take().first)
    #expect(sorted.candidates.condition.isEmpty && sorted.candidates.order != nil)
    #expect(sorted.rows == 0 && sorted.found == 10)
  }

  @Test("Small scans, unconditional scans and index scans are not reported; index uses are counted")
  func noReports() throws {
    try engine.write(nil) {
      try $0.createIndex(IndexDefinition(columns: [.init("third")]), in: "many")
    }
    try engine.read(.call, nil) { reader in
      try reader.find(Query(Field("third") == 1), in: "few") { _ in true }
      try reader.find(Query(), in: "many") { _ in true }
      for _ in 0..<3 { _ = try reader.count(Query(Field("third") == 1), in: "many") }
    }
    #expect(reportLog.take().isEmpty)
    let uses = observer.takeUses()
    #expect(uses.count == 1 && uses[0] == ("many", "third", 3))
    #expect(observer.takeUses().isEmpty)
  }

  @Test("Writes are reported after the commit, and not after a rollback")
  func writes() throws {
    reportLog.writes.withLock { $0 = [:] }
    try fill("other", 300)
    #expect(reportLog.writes.withLock { $0 } == ["other": 300])
    struct Undone: Error {}
    #expect(throws: Undone.self) {
      try engine.write(nil) { writer in
        _ = try writer.delete(Query(), from: "other")
        throw Undone()
      }
    }
    #expect(reportLog.writes.withLock { $0 } == ["other": 300])
  }
}

@Suite("Incremental creation of element indexes")
struct IndexStepTests {
  private func engine(_ count: Int) throws -> SQLiteEngine {
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    try engine.write(nil) { writer in
      for number in 0..<count { try Self.insert(number, writer) }
    }
    return engine
  }

  private static func insert(_ number: Int, _ writer: any EngineWriter) throws {
    var json = JSONWriter()
    json.value(["tags": ["all", .string("t\(number % 7)")]])
    try json.bytes.withUnsafeBytes {
      _ = try writer.insert(NewDocument(key: nil, added: 0, body: $0), into: "c")
    }
  }

  private let index = IndexDefinition(
    columns: [.init("tags")], kind: .elements, origin: .adaptive, reason: "Because.")

  @Test("An index is used only once it is complete, and includes concurrent writes")
  func steps() throws {
    let engine = try engine(100)
    let query = Query(Field("tags") == "t3")
    #expect(try engine.write(nil) { try $0.beginIndex(index, in: "c") } == false)
    #expect(
      try engine.write(nil) { try $0.continueIndex(index.name, in: "c", documents: 40) } == false)
    #expect(try engine.read(.call, nil) { try $0.explain(query, in: "c") }.indexes.isEmpty)
    #expect(try engine.read(.call, nil) { try $0.indexes(in: "c") }.isEmpty)
    #expect(
      try engine.read(.call, nil) { try $0.unfinishedIndexes() }
        == [PendingIndex(collection: "c", index: index)])

    // Before and after the position that the fill has reached.
    try engine.write(nil) { writer in
      _ = try writer.delete(.rowID(5), from: "c")
      _ = try writer.delete(.rowID(80), from: "c")
      for number in 0..<20 { try Self.insert(number, writer) }
    }
    let before = try engine.read(.call, nil) { try $0.count(query, in: "c") }
    while try engine.write(nil, { try $0.continueIndex(index.name, in: "c", documents: 40) })
      == false
    {}
    #expect(try engine.read(.call, nil) { try $0.explain(query, in: "c") }.indexes == [index.name])
    #expect(try engine.read(.call, nil) { try $0.count(query, in: "c") } == before)
    #expect(try engine.read(.call, nil) { try $0.indexes(in: "c") } == [index])
    #expect(try engine.verify().isEmpty)
  }

  @Test("An unfinished index can be dropped, declared, and dropped with its collection")
  func otherEnds() throws {
    let tables = "SELECT name FROM sqlite_schema WHERE name LIKE 'nano_elements%'"
    func count(_ engine: SQLiteEngine) throws -> Int {
      var found = 0
      try engine.read(.call, nil) { reader in
        _ = try (reader as? any SQLReader)?.sql(tables, SQLArguments()) { _ in
          found += 1
          return true
        }
      }
      return found
    }
    let engine = try engine(10)
    _ = try engine.write(nil) { try $0.beginIndex(index, in: "c") }
    #expect(try engine.write(nil) { try $0.dropIndex(index.name, in: "c") })
    #expect(try count(engine) == 0)

    _ = try engine.write(nil) { try $0.beginIndex(index, in: "c") }
    var declared = index
    (declared.origin, declared.reason) = (.declared, nil)
    try engine.write(nil) { try $0.createIndex(declared, in: "c") }
    #expect(try engine.read(.call, nil) { try $0.indexes(in: "c") } == [declared])
    #expect(try engine.read(.call, nil) { try $0.unfinishedIndexes() }.isEmpty)
    #expect(try engine.verify().isEmpty)

    _ = try engine.write(nil) { try $0.dropIndexes(in: "c") }
    _ = try engine.write(nil) { try $0.beginIndex(index, in: "c") }
    _ = try engine.write(nil) { try $0.dropCollection("c") }
    #expect(try count(engine) == 0)
    #expect(try engine.read(.call, nil) { try $0.unfinishedIndexes() }.isEmpty)
  }
}
