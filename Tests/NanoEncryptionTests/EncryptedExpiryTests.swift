// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEncryption
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Expiration of encrypted documents")
struct EncryptedExpiryTests {
  private static func configuration(_ clock: ManualClock) -> SQLiteConfiguration {
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
}
