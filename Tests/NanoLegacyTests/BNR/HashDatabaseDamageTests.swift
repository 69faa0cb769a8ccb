// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@testable import NanoLegacy

@Suite("Damaged hash databases")
struct HashDatabaseDamageTests {
  typealias Contents = HashDatabaseTests.Contents

  /// A small file with records of different sizes, free blocks, and stale content in them.
  private func sample(_ format: HashDatabaseWriter.Format) -> (HashDatabaseWriter, Contents) {
    var writer = HashDatabaseWriter(format)
    var expected: Contents = [:]
    var random = SeededGenerator(seed: 21)
    func value(_ size: Int) -> [UInt8] {
      (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
    for rowID: UInt32 in 1...9 {
      let key = HashDatabaseTests.key(rowID)
      expected[key] = value(Int(rowID * 7 % 40))
      writer.put(key, expected[key]!)
    }
    for rowID: UInt32 in [2, 5] {
      let key = HashDatabaseTests.key(rowID)
      expected[key] = value(60)
      writer.put(key, expected[key]!)
    }
    for rowID: UInt32 in [3, 7] {
      writer.remove(HashDatabaseTests.key(rowID))
      expected[HashDatabaseTests.key(rowID)] = nil
    }
    return (writer, expected)
  }

  private static let formats: [HashDatabaseWriter.Format] = [
    .init(), .init(isLarge: true, isBigEndian: true), .init(alignmentPower: 0),
    .init(alignmentPower: 6, bucketCount: 2),
  ]

  @Test("After a change of any byte, all undamaged records are found", arguments: formats)
  func changedBytes(_ format: HashDatabaseWriter.Format) throws {
    let folder = try TemporaryFolder()
    let (writer, expected) = sample(format)
    // The signature, the kind of database, and options that refuse to open the file.
    let refused = Set(0..<14).union([32, 36])
    for offset in writer.bytes.indices {
      for mask: UInt8 in [0x01, 0x10, 0x80, 0xFF] {
        var bytes = writer.bytes
        bytes[offset] ^= mask
        let url = try folder.write(bytes)
        guard let (contents, _) = try? HashDatabaseTests.read(url) else {
          #expect(refused.contains(offset), "offset \(offset), mask \(mask)")
          continue
        }
        for (key, extent) in writer.extents
        where !(extent.offset..<extent.contentEnd).contains(offset) {
          #expect(contents[key] == expected[key], "offset \(offset), mask \(mask), key \(key)")
        }
        #expect(
          Set(contents.keys).isSubset(of: expected.keys), "offset \(offset), mask \(mask)")
      }
    }
  }

  @Test("After truncation at any length, all complete records are found", arguments: formats)
  func truncation(_ format: HashDatabaseWriter.Format) throws {
    let folder = try TemporaryFolder()
    let (writer, expected) = sample(format)
    for length in writer.bytes.indices {
      let url = try folder.write(Array(writer.bytes[..<length]))
      guard let (contents, report) = try? HashDatabaseTests.read(url) else {
        #expect(length < 256)
        continue
      }
      let complete = writer.extents.filter { $0.value.end <= length }.keys
      #expect(contents == expected.filter { complete.contains($0.key) }, "length \(length)")
      #expect(report.damageCount > 0, "length \(length)")
    }
  }

  @Test("A damaged block is reported with its offset, length and reason")
  func report() throws {
    let folder = try TemporaryFolder()
    let (writer, expected) = sample(.init())
    let key = HashDatabaseTests.key(4)
    let extent = writer.extents[key]!
    var bytes = writer.bytes
    bytes[extent.offset] = 0

    let (contents, report) = try HashDatabaseTests.read(folder.write(bytes))

    #expect(contents == expected.filter { $0.key != key })
    #expect(
      report.damages == [
        HashDatabaseDamage(
          offset: Int64(extent.offset), length: Int64(extent.end - extent.offset),
          reason: .notABlock)
      ])
  }

  @Test("Records are found without the bucket array")
  func lostBuckets() throws {
    let folder = try TemporaryFolder()
    let (writer, expected) = sample(.init())
    var bytes = writer.bytes
    for offset in 256..<256 + 7 * 4 { bytes[offset] = 0xEE }
    bytes[48] = 77

    let (contents, report) = try HashDatabaseTests.read(folder.write(bytes))

    #expect(contents == expected)
    #expect(report.unindexedCount == expected.count)
  }

  @Test("Random damage, random sizes in headers and cyclic trees neither crash nor hang")
  func randomDamage() throws {
    let folder = try TemporaryFolder()
    var random = SeededGenerator(seed: 11)
    for round in 0..<400 {
      var (writer, _) = sample(Self.formats[round % Self.formats.count])
      for _ in 0..<Int.random(in: 1...30, using: &random) {
        let start = round % 3 == 0 ? 32 : writer.firstBlock - 32
        let offset = Int.random(in: start..<writer.bytes.count - 8, using: &random)
        let extreme = [
          0, 1, .max, 0x0101_0101, 0xC8C8_C8C8, UInt64.random(in: 0...600, using: &random),
        ]
        writer.overwrite(offset, writer.number(extreme.randomElement(using: &random)!))
      }
      writer.overwrite(36, [writer.bytes[36] & 1])
      _ = try? HashDatabaseTests.read(folder.write(writer.bytes))
    }
  }

  @Test("A tree that contains itself does not end the import")
  func cycle() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter(.init(bucketCount: 1))
    let expected = HashDatabaseTests.scramble(&writer, seed: 8, operations: 80)
    for extent in writer.extents.values {
      let root = writer.bytes[256..<260]
      writer.overwrite(extent.offset + 2, Array(root + root))
    }
    writer.overwrite(48, writer.number(UInt64(0)))

    #expect(try HashDatabaseTests.read(folder.write(writer.bytes)).contents == expected)
  }

  @Test("A small file that claims 2^48 buckets is read without visiting them")
  func claimedBuckets() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    let buckets = UInt64(1) << 48
    writer.overwrite(40, writer.number(buckets))
    // After the header, the buckets and the pool of free blocks, at the next multiple of 16.
    writer.overwrite(64, writer.number((256 + buckets * 4 + 64 + 4 + 15) & ~15))

    let (contents, report) = try HashDatabaseTests.read(
      folder.write(Array(writer.bytes.prefix(300))))

    #expect(contents.isEmpty)
    #expect(report.recordCount == 0)
  }

  @Test(
    "Records that overlap are returned up to a multiple of the file's size, the others reported")
  func overlap() throws {
    let folder = try TemporaryFolder()
    let writer = HashDatabaseWriter(.init(bucketCount: 53))
    var bytes = writer.bytes + Array(repeating: 0, count: 1 << 16)
    let records = 50
    for bucket in 0..<records {
      let offset = writer.firstBlock + 32 * bucket
      let key = try #require(
        (UInt32(2)...100_000).lazy.map { HashDatabaseTests.key($0) }.first { key in
          let index = key.reduce(UInt64(19_780_211)) { $0 &* 37 &+ UInt64($1) }
          return index % 53 == UInt64(bucket)
        })
      // Each record extends to the end of the file.
      let header: [UInt8] = [0xC8, HashDatabaseWriter.hash(key)] + Array(repeating: 0, count: 10)
      let record =
        header + HashDatabaseWriter.variableNumber(4)
        + HashDatabaseWriter.variableNumber(bytes.count - offset - 20) + key
      bytes.replaceSubrange(offset..<offset + 20, with: record)
      bytes.replaceSubrange(
        256 + 4 * bucket..<260 + 4 * bucket, with: writer.number(UInt32(offset / 16)))
    }
    bytes.replaceSubrange(48..<56, with: writer.number(UInt64(records)))
    bytes.replaceSubrange(56..<64, with: writer.number(UInt64(bytes.count)))
    let url = try folder.write(bytes)
    var returned = 0

    let report = try HashDatabase(url).forEach { returned += $0.value.count }

    #expect((1...4 * bytes.count).contains(returned))
    #expect(report.damages.contains { $0.reason == .overlapping })
  }
}
