// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoDocument
import NanoEncryption
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoStoreEncryption
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Expiration of encrypted documents")
struct EncryptedExpiryTests {
  private static func configuration(_ clock: any StoreClock) -> SQLiteConfiguration {
    var configuration = SQLiteConfiguration()
    configuration.durability = .fast
    configuration.clock = clock
    return configuration
  }

  @Test(
    "Random writes, expirations, and sweeps give the results of the reference engine",
    arguments: 0..<10)
  func generated(part: UInt64) throws {
    print("expiration: NANOSTORE_SEED=\(EncryptedComparisonTests.seed) (part \(part))")
    try ExpiryComparison {
      try EncryptedEngine(SQLiteEngine(.memory, Self.configuration($0)), .test(indexes: .blind))
    }.run(
      seed: EncryptedComparisonTests.seed &+ part, steps: 120, uniqueIndex: part.isMultiple(of: 2))
  }

  @Test("The rule of a collection is not in the file, the times are")
  func hidden() throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let clock = ManualClock()
    let engine = try EncryptedEngine(
      SQLiteEngine(.file(path), Self.configuration(clock)), .test())
    try engine.write(nil) { writer in
      try writer.setSettings(
        CollectionSettings(expiration: .field("confidentialDate")), of: "c")
      try GeneratedDocument([
        "confidentialDate": .date(.init(microsecondsSince1970: clock.now() + 7_000_000))
      ])
      .new { _ = try writer.insert($0, into: "c") }
    }
    let time = try engine.read(.call, nil) { try $0.earliestExpiration(after: nil, in: "c") }
    #expect(time == clock.now() + 7_000_000)
    #expect(
      try engine.read(.call, nil) { try $0.settings(of: "c").expiration }
        == .field("confidentialDate"))
    try engine.close()

    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))

    #expect(bytes.range(of: Data("confidentialDate".utf8)) == nil)
    #expect(bytes.range(of: Data("nano_expirations_c".utf8)) != nil)
  }

  @Test("A rule from before a store was encrypted still applies")
  func converted() throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let clock = ManualClock()
    func document(_ seconds: Int64) -> GeneratedDocument {
      GeneratedDocument([
        "at": .date(.init(microsecondsSince1970: clock.now() + seconds * 1_000_000))
      ])
    }
    let plain = try SQLiteEngine(.file(path), Self.configuration(clock))
    try plain.write(nil) { writer in
      try writer.setSettings(CollectionSettings(expiration: .field("at")), of: "c")
      try document(5).new { _ = try writer.insert($0, into: "c") }
    }
    try plain.close()
    let engine = try EncryptedEngine(
      SQLiteEngine(.file(path), Self.configuration(clock)), .test())
    try engine.write(nil) { writer in
      try document(10).new { _ = try writer.insert($0, into: "c") }
    }
    func count() throws -> Int { try engine.read(.call, nil) { try $0.count(Query(), in: "c") } }

    #expect(try count() == 2)
    clock.advance(by: .seconds(5))
    #expect(try count() == 1)
    try engine.write(nil) { writer in
      var settings = try writer.settings(of: "c")
      settings.aliases = ["x": "[at]"]
      try writer.setSettings(settings, of: "c")
    }
    clock.advance(by: .seconds(4))
    #expect(try count() == 1)
    clock.advance(by: .seconds(1))
    #expect(try count() == 0)
  }

  @Test(
    "Encrypting documents and their indexes, changing settings, and rotating keys keep all expirations",
    arguments: [ExpirationRule.field("at"), .after(.seconds(100))], [false, true])
  func kept(rule: ExpirationRule, hasIndex: Bool) throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let clock = ManualClock()
    let plain = try SQLiteEngine(.file(path), Self.configuration(clock))
    func expirations(_ engine: any Engine) throws -> [Int64: Int64] {
      try engine.read(.snapshot, nil) { try $0.expirations(ofRows: [1, 2, 3, 4], in: "c") }
    }
    try plain.write(nil) { writer in
      try writer.setSettings(CollectionSettings(expiration: rule), of: "c")
      for number in 1...4 as ClosedRange<Int64> {
        let date = Date(microsecondsSince1970: clock.now() + number * 50_000_000)
        try GeneratedDocument(["n": .int(number), "at": .date(date)])
          .new { _ = try writer.insert($0, into: "c") }
      }
      try writer.setExpirations(
        [(2, clock.now() + 20_000_000), (3, clock.now() + 30_000_000), (4, nil)], in: "c")
      if hasIndex {
        try writer.createIndex(IndexDefinition(columns: [.init("n")]), in: "c")
      }
    }
    let expected = try expirations(plain)
    try plain.close()
    clock.advance(by: .seconds(1))

    let engine = try EncryptedEngine(
      SQLiteEngine(.file(path), Self.configuration(clock)), .test(indexes: .blind))
    #expect(try expirations(engine) == expected)
    try engine.write(nil) { writer in
      var settings = try writer.settings(of: "c")
      settings.aliases = ["x": "[at]"]
      try writer.setSettings(settings, of: "c")
    }
    #expect(try expirations(engine) == expected)
    try engine.encryptAll()
    #expect(try expirations(engine) == expected)
    try engine.rotate()

    #expect(try expirations(engine) == expected)
    #expect(expected.count == 3)
    #expect(try engine.read(.call, nil) { try $0.settings(of: "c").expiration } == rule)
    #expect(try engine.verify() == [])
  }

  @Test(
    "Encrypting all documents keeps the expirations of a collection whose rule is not encrypted")
  func keptByEncryptAll() throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let clock = ManualClock()
    let plain = try SQLiteEngine(.file(path), Self.configuration(clock))
    try plain.write(nil) { writer in
      try writer.setSettings(CollectionSettings(expiration: .field("at")), of: "c")
      for _ in 0..<2 {
        try GeneratedDocument(["n": 1]).new { _ = try writer.insert($0, into: "c") }
      }
      try writer.setExpirations([(1, clock.now() + 5_000_000)], in: "c")
    }
    try plain.close()
    let engine = try EncryptedEngine(
      SQLiteEngine(.file(path), Self.configuration(clock)), .test())

    try engine.encryptAll()

    let found = try engine.read(.call, nil) { try $0.expirations(ofRows: [1, 2], in: "c") }
    #expect(found == [1: clock.now() + 5_000_000])
    clock.advance(by: .seconds(5))
    #expect(try engine.read(.call, nil) { try $0.count(Query(), in: "c") } == 1)
  }

  @Test(
    "Encrypting a rule keeps expired documents, which leave their bags when the store deletes them",
    arguments: [false, true])
  func bags(isUnique: Bool) throws {
    let file = try SealedFile()
    let clock = ManualClock()
    func date(_ seconds: Int64) -> DocumentValue {
      .date(Date(microsecondsSince1970: clock.now() + seconds * 1_000_000))
    }
    let plain = try Store(.file(file.path), engine: Self.configuration(clock))
    let sessions = plain["sessions"]
    try sessions.setExpirationRule(.field("until"))
    try sessions.createIndex("user", unique: isUnique)
    let session = try sessions.save(["user": "ada", "until": date(10)], key: "s1")
    let bag = try plain.bag(named: "all")
    try bag.add(session)
    try bag.save()
    try plain.close()
    clock.advance(by: .seconds(10))

    let store = try Store(
      .file(file.path), engine: Self.configuration(clock), encryption: .test(indexes: .blind))
    try store.deleteExpired()

    #expect(try store.bag(named: "all").count() == 0)
    try store["sessions"].save(["user": "ada", "until": date(10)], key: "s1")
    #expect(try store.bag(named: "all").count() == 0)
    try store.close()
  }

  @Test(
    "encryptAll and rotateKeys leave no expired document as it was", arguments: [false, true])
  func expired(isRotation: Bool) throws {
    let file = try SealedFile()
    let clock = ManualClock()
    let date = Date(microsecondsSince1970: clock.now() + 10_000_000)
    let plain = try Store(.file(file.path), engine: Self.configuration(clock))
    try plain["sessions"].save(["user": "ada"], key: "s1")
    try plain["sessions"].save(["user": "bob"], key: "s2")
    try plain["sessions"].setExpiration(date, of: "s1")
    try plain.close()
    let silent = SilentClock(clock: clock)
    let store = try Store(
      .file(file.path), engine: Self.configuration(silent), encryption: .test())
    #expect(silent.didWait.wait(timeout: .now() + 60) == .success)
    clock.advance(by: .seconds(10))

    if isRotation { try store.rotateKeys() } else { try store.encryptAll() }

    try store.close()
    let bodies = try file.sql("SELECT body FROM sessions").compactMap { $0["body"]?.string }
    #expect(bodies.count == 1)
    #expect(bodies.allSatisfy { $0.hasPrefix(#"{"$sealed""#) })
  }

  @Test("A key rotation leaves expired documents to the store, also those with unique values")
  func keptByRotation() throws {
    let clock = ManualClock()
    let engine = try EncryptedEngine(
      SQLiteEngine(.memory, Self.configuration(clock)), .test(indexes: .blind))
    try engine.write(nil) { writer in
      try writer.createIndex(IndexDefinition(columns: [.init("n")], isUnique: true), in: "c")
      for number in 1...2 as ClosedRange<Int64> {
        try GeneratedDocument(["n": .int(number)]).new { _ = try writer.insert($0, into: "c") }
      }
      try writer.setExpirations([(1, clock.now() + 1)], in: "c")
    }
    clock.advance(by: .seconds(1))

    try engine.rotate()

    #expect(try engine.write(nil) { try $0.sweepExpired(limit: 10, from: "c") } == 1)
  }

  @Test("Documents before the rejected one of a batch expire by the rule")
  func rejectedBatch() throws {
    let clock = ManualClock()
    let engine = try EncryptedEngine(SQLiteEngine(.memory, Self.configuration(clock)), .test())
    let body = Array(#"{"n":1}"#.utf8)
    var rowIDs: [Int64] = []

    try engine.write(nil) { writer in
      try writer.setSettings(CollectionSettings(expiration: .after(.seconds(5))), of: "c")
      try body.withUnsafeBytes { bytes in
        let documents = try ["a", "b", "a"].map {
          NewDocument(key: try DocumentKey($0), added: 0, body: bytes)
        }
        let failure = code { try writer.insert(documents, into: "c", &rowIDs) }
        #expect(failure == .duplicateKey)
      }
    }

    #expect(rowIDs.count == 2)
    let found = try engine.read(.call, nil) { try $0.expirations(ofRows: rowIDs, in: "c") }
    #expect(Set(found.values) == [clock.now() + 5_000_000])
    #expect(Set(found.keys) == Set(rowIDs))
  }

  @Test("A damaged document does not prevent setting and removing a rule")
  func damaged() throws {
    let file = try SealedFile()
    let date = Date(microsecondsSince1970: 4_000_000_000_000_000)
    try file.open().using { store in
      for key in ["a", "b"] { try store["people"].save(["until": .date(date)], key: key) }
    }
    try file.setBody(1, #"{"$sealed":"AAAA"}"#)
    let store = try file.open()
    let people = store["people"]

    try people.setExpirationRule(.field("until"))

    #expect(try people.expiration(of: "b") == date)
    try people.setExpirationRule(.after(.seconds(1_000_000)))
    #expect(try people.expiration(of: "b") != date)
    try people.setExpirationRule(nil)
    #expect(try people.expiration(of: "b") == nil)
    #expect(try people.expirationRule() == nil)
  }
}

/// A clock with which a store never notices that a document has expired.
private struct SilentClock: StoreClock {
  let clock: ManualClock
  /// Signaled once the store waits for an expiration.
  let didWait = DispatchSemaphore(value: 0)

  func now() -> Int64 { clock.now() }

  func wake(at time: Int64, _ handler: @escaping @Sendable () -> Void) -> ClockWakeup {
    didWait.signal()
    return ClockWakeup {}
  }
}
