// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

/// `NANOSTORE_SEED` repeats a run.
@Suite("Expiration on SQLite")
struct ExpiryTests {
  static let seed =
    ProcessInfo.processInfo.environment["NANOSTORE_SEED"].flatMap { UInt64($0) }
    ?? UInt64.random(in: .min ... .max)

  private static func configuration(_ clock: ManualClock) -> SQLiteConfiguration {
    var configuration = SQLiteConfiguration()
    configuration.durability = .fast
    configuration.clock = clock
    return configuration
  }

  @Test(
    "Random writes, expirations, and sweeps give the results of the reference engine",
    arguments: 0..<40)
  func memory(part: UInt64) throws {
    print("expiration: NANOSTORE_SEED=\(Self.seed) (part \(part))")
    try ExpiryComparison { try SQLiteEngine(.memory, Self.configuration($0)) }
      .run(seed: Self.seed &+ part, steps: 150, uniqueIndex: part.isMultiple(of: 2))
  }

  @Test("In a file that is reopened, results are those of the reference engine", arguments: 0..<8)
  func file(part: UInt64) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.db")
    try ExpiryComparison(
      reopen: { engine, clock in
        try engine.close()
        return try SQLiteEngine(.file(path), Self.configuration(clock))
      }, { try SQLiteEngine(.file(path), Self.configuration($0)) }
    ).run(seed: Self.seed &+ 100 &+ part, steps: 150, uniqueIndex: part.isMultiple(of: 2))
  }

  private func engine() throws -> (SQLiteEngine, ManualClock) {
    let clock = ManualClock()
    return (try SQLiteEngine(.memory, Self.configuration(clock)), clock)
  }

  private func insert(_ keys: [String], _ engine: any Engine) throws -> [Int64] {
    try engine.write(nil) { writer in
      try keys.map { key in
        try GeneratedDocument(["n": 1], key: DocumentKey(key)).new {
          try writer.insert($0, into: "c")
        }
      }
    }
  }

  private func count(_ engine: any Engine) throws -> Int {
    try engine.read(.call, nil) { try $0.count(Query(), in: "c") }
  }

  @Test("A reader and a transaction see one time, whatever the clock does meanwhile")
  func oneTime() throws {
    let (engine, clock) = try engine()
    let rowIDs = try insert(["a", "b"], engine)
    try engine.write(nil) {
      try $0.setExpirations([(rowIDs[0], clock.now() + 5_000_000)], in: "c")
    }

    let counts = try engine.read(.snapshot, nil) { reader in
      let before = try reader.count(Query(), in: "c")
      clock.advance(by: .seconds(5))
      return [before, try reader.count(Query(), in: "c")]
    }

    #expect(counts == [2, 2])
    #expect(try count(engine) == 1)
  }

  @Test("A clock that goes back shows a document again only until it is deleted")
  func backward() throws {
    let (engine, clock) = try engine()
    let rowIDs = try insert(["a", "b"], engine)
    let start = clock.now()
    try engine.write(nil) { writer in
      try writer.setExpirations(rowIDs.map { ($0, start + 5_000_000) }, in: "c")
    }
    clock.set(start + 10_000_000)
    #expect(try count(engine) == 0)

    clock.set(start)
    #expect(try count(engine) == 2)
    clock.set(start + 10_000_000)
    _ = try engine.write(nil) { try $0.sweepExpired(limit: 1, from: "c") }
    clock.set(start)

    #expect(try count(engine) == 1)
  }

  @Test("Collections without expirations have the same statements and definitions as before")
  func untouched() throws {
    let (engine, _) = try engine()
    _ = try insert(["a"], engine)
    let before = try engine.read(.call, nil) {
      try $0.explain(Query(Field("n") == 1), in: "c").statement
    }
    let (rowIDs, version) = (try insert(["x"], engine), try self.version(engine))

    try engine.write(nil) { writer in
      try GeneratedDocument(["n": 1]).new { _ = try writer.insert($0, into: "other") }
      try writer.setExpirations([(1, 0)], in: "other")
    }

    #expect(version == 1)
    #expect(try self.version(engine) == 3)
    #expect(
      try engine.read(.call, nil) { try $0.explain(Query(Field("n") == 1), in: "c").statement }
        == before)
    #expect(try engine.read(.call, nil) { try $0.expiringCollections() } == ["other"])
    #expect(try engine.verify().isEmpty)
    #expect(rowIDs == [2])
  }

  private func version(_ engine: SQLiteEngine) throws -> Int {
    try Int(engine.statistics().settings["user_version"] ?? "") ?? 0
  }

  @Test("With nothing expired, a query runs the statement that it runs without expirations")
  func statement() throws {
    let (engine, clock) = try engine()
    let rowIDs = try insert(["a", "b"], engine)
    func statement() throws -> String {
      try engine.read(.call, nil) { try $0.explain(Query(Field("n") == 1), in: "c").statement }
    }
    let before = try statement()
    try engine.write(nil) {
      try $0.setExpirations([(rowIDs[0], clock.now() + 1_000_000)], in: "c")
    }

    #expect(try statement() == before)
    clock.advance(by: .seconds(1))
    #expect(try statement() != before)
  }

  @Test("Pages of a ranked search skip documents of the result, not expired ones")
  func rankedPages() throws {
    let (engine, clock) = try engine()
    let rowIDs = try engine.write(nil) { writer -> [Int64] in
      try writer.createFullTextIndex(FullTextIndexDefinition(fields: ["t"]), in: "c")
      return try (0..<4).map { _ in
        try GeneratedDocument(["t": "gin"], key: nil).new { try writer.insert($0, into: "c") }
      }
    }
    try engine.write(nil) { try $0.setExpirations([(rowIDs[0], clock.now())], in: "c") }
    func page(_ offset: Int) throws -> [Int64] {
      var found: [Int64] = []
      let query = Query(
        .search("gin"), limit: 2, offset: offset, ranking: FullTextRanking())
      try engine.read(.call, nil) { reader in
        try reader.findRanked(query, in: "c") { stored, _ in
          found.append(stored.rowID)
          return true
        }
      }
      return found
    }

    #expect(try page(0) == [rowIDs[1], rowIDs[2]])
    #expect(try page(1) == [rowIDs[2], rowIDs[3]])
    #expect(try page(2) == [rowIDs[3]])
  }

  @Test(
    "A changed rule that keeps expired documents hides them until they are deleted",
    arguments: [nil, .after(.seconds(5)), .field("at")] as [ExpirationRule?])
  func keptByRuleChange(rule: ExpirationRule?) throws {
    let (engine, clock) = try engine()
    try engine.write(nil) {
      try $0.setSettings(CollectionSettings(expiration: .after(.seconds(10))), of: "c")
    }
    _ = try insert(["a"], engine)
    clock.advance(by: .seconds(10))
    _ = try insert(["b"], engine)

    try engine.write(nil) { writer in
      writer.expiry.keepsExpired = true
      try writer.setSettings(CollectionSettings(expiration: rule), of: "c")
      #expect(writer.expiry.swept.isEmpty)
    }

    #expect(try count(engine) == 1)
    #expect(try engine.write(nil) { try $0.sweepExpired(limit: 10, from: "c") } == 1)
    #expect(try count(engine) == 1)
  }

  @Test("A row ID that was requested in advance is new although expired documents were deleted")
  func requestedRowID() throws {
    let (engine, clock) = try engine()
    let rowIDs = try insert(["a"], engine)

    try engine.write(nil) { writer in
      func insert(_ rowID: Int64) throws -> Int64? {
        let body = Array("{}".utf8)
        return try body.withUnsafeBytes { body in
          let document = NewDocument(key: nil, added: 1, rowID: rowID, body: body)
          let id = try writer.insert(document, into: "c")
          return try writer.version(ofRow: id, in: "c")?.revision
        }
      }
      let next = try writer.nextRowID(in: "c")
      try writer.setExpirations([(rowIDs[0], clock.now())], in: "c")
      #expect(try writer.sweepExpired(limit: 10, from: "c") == 1)

      #expect(try insert(next) == 1)
      #expect(try insert(next + 1) == 1)
      _ = try writer.delete(.rowID(next + 1), from: "c")
      // The deleted one had the revision 1.
      #expect(try insert(next + 1) != 1)
      #expect(try insert(next + 2) == 1)
    }
  }

  @Test("verify reports a missing trigger and a missing table of expirations")
  func verify() throws {
    for statement in [
      "DROP TRIGGER nano_expire_c_delete", "DROP TRIGGER nano_expire_c_insert",
      "DROP INDEX nano_expire_c",
    ] {
      let clock = ManualClock()
      var configuration = Self.configuration(clock)
      configuration.allowsInternalWrites = true
      let engine = try SQLiteEngine(.memory, configuration)
      _ = try insert(["a"], engine)
      try engine.write(nil) {
        try $0.setSettings(CollectionSettings(expiration: .field("at")), of: "c")
      }
      #expect(try engine.verify().isEmpty)
      try engine.write(nil) { writer in
        _ = try (writer as? any SQLReader)?.sql(statement, SQLArguments()) { _ in true }
      }

      let problems = try engine.verify()

      #expect(problems.count == 1, "\(problems)")
    }
  }
}
