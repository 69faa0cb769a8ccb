// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@testable import NanoLegacy

@Suite("Hash databases")
struct HashDatabaseTests {
  typealias Contents = [[UInt8]: [UInt8]]

  static func read(_ url: URL) throws -> (contents: Contents, report: HashDatabaseReport) {
    var contents: Contents = [:]
    let report = try HashDatabase(url).forEach { contents[$0.key] = $0.value }
    return (contents, report)
  }

  static func key(_ rowID: UInt32) -> [UInt8] {
    withUnsafeBytes(of: rowID.littleEndian) { Array($0) }
  }

  /// Puts, grows, shrinks and removes records, and returns what remains.
  static func scramble(
    _ writer: inout HashDatabaseWriter, seed: UInt64, operations: Int, largest: Int = 90
  ) -> Contents {
    var random = SeededGenerator(seed: seed)
    var expected: Contents = [:]
    for _ in 0..<operations {
      let key = key(UInt32.random(in: 1...40, using: &random))
      if Int.random(in: 0..<4, using: &random) == 0 {
        writer.remove(key)
        expected[key] = nil
      } else {
        let size = Int.random(in: 0...largest, using: &random)
        let value = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        writer.put(key, value)
        expected[key] = value
      }
    }
    return expected
  }

  @Test("Every format that the library can write is read", arguments: HashDatabaseWriter.Format.all)
  func formats(_ format: HashDatabaseWriter.Format) throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter(format)
    let expected = Self.scramble(&writer, seed: UInt64(format.alignmentPower), operations: 120)
    let database = try HashDatabase(folder.write(writer.bytes))
    var contents: Contents = [:]

    let report = try database.forEach { contents[$0.key] = $0.value }

    #expect(contents == expected)
    #expect(report == HashDatabaseReport(recordCount: expected.count))
    #expect(database.header.isBigEndian == format.isBigEndian)
    #expect(database.header.isLarge == format.isLarge)
    #expect(database.header.alignmentPower == format.alignmentPower)
  }

  @Test(
    "Keys and values of any length are read, also larger than the buffer", arguments: [false, true])
  func sizes(isLarge: Bool) throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter(.init(isLarge: isLarge))
    var expected: Contents = [:]
    for size in [0, 1, 127, 128, 16_383, 16_384, 65_536, 300_000, 2_097_152] {
      let key = Array("key \(size)".utf8) + Array(repeating: 7, count: size / 50)
      expected[key] = Array(repeating: UInt8(truncatingIfNeeded: size), count: size)
      writer.put(key, expected[key]!)
    }
    writer.put([], [1])
    expected[[]] = [1]

    #expect(try Self.read(folder.write(writer.bytes)).contents == expected)
  }

  @Test("A file that was not closed and has unused space at its end is read completely")
  func notClosed() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    let expected = Self.scramble(&writer, seed: 3, operations: 50)
    writer.markOpen()
    let url = try folder.write(writer.bytes + Array(repeating: 0, count: 32_768))

    let (contents, report) = try Self.read(url)

    #expect(contents == expected)
    #expect(report.damageCount == 0)
    #expect(try HashDatabase(url).header.isOpen)
  }

  @Test("A version of a record that the bucket array no longer leads to is ignored")
  func staleVersion() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    writer.put(Self.key(2), [1, 2, 3])
    let old = writer.extents[Self.key(2)]!
    let stale = Array(writer.bytes[old.offset..<old.end])
    writer.put(Self.key(3), [9])
    writer.put(Self.key(2), Array(repeating: 5, count: 100))
    // After a loss of power, the free block that replaced the old version can be missing.
    writer.overwrite(old.offset, stale)

    let (contents, report) = try Self.read(folder.write(writer.bytes))

    #expect(contents == [Self.key(2): Array(repeating: 5, count: 100), Self.key(3): [9]])
    #expect(report.staleCount == 1)
  }

  @Test(
    "Compressed records are refused with the name of the option",
    arguments: [2, 4, 8, 16] as [UInt8])
  func compression(option: UInt8) throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    writer.overwrite(36, [option])
    let url = try folder.write(writer.bytes)

    let error = #expect(throws: StoreError.self) { try HashDatabase(url) }

    #expect(error?.code == .unsupported)
    #expect(error?[.actual]?.hasPrefix("option \(option), ") == true)
  }

  @Test("Other formats of the library and other files are refused")
  func otherFiles() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    writer.overwrite(32, [1])
    let tree = try folder.write(writer.bytes, "Tree")
    let text = try folder.write(Array("SQLite format 3".utf8), "Text")
    let empty = try folder.write([], "Empty")

    #expect(throws: StoreError.self) { try HashDatabase(tree) }
    #expect(try HashDatabase.isDatabase(tree))
    for url in [text, empty] {
      #expect { try HashDatabase(url) } throws: { ($0 as? StoreError)?.code == .notADatabase }
      #expect(try !HashDatabase.isDatabase(url))
    }
    #expect { try HashDatabase(folder.url) } throws: { ($0 as? StoreError)?.code == .cannotOpen }
  }

  @Test("Reading does not change the file")
  func unchanged() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    _ = Self.scramble(&writer, seed: 4, operations: 30)
    writer.beginTransaction()
    _ = Self.scramble(&writer, seed: 5, operations: 30)
    let url = try folder.write(writer.bytes)
    _ = try folder.write(writer.log!, "Song.wal")

    _ = try Self.read(url)

    #expect(try Data(contentsOf: url) == Data(writer.bytes))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        == ["Song", "Song.wal"])
  }
}

/// A deterministic generator of random numbers (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
