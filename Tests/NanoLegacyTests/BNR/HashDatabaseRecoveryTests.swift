// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@testable import NanoLegacy

@Suite("Unfinished transactions of hash databases")
struct HashDatabaseRecoveryTests {
  typealias Contents = HashDatabaseTests.Contents

  /// A database in the middle of a transaction, and its contents before.
  private func unfinished(
    _ format: HashDatabaseWriter.Format, seed: UInt64
  ) -> (writer: HashDatabaseWriter, before: Contents) {
    var writer = HashDatabaseWriter(format)
    let before = HashDatabaseTests.scramble(&writer, seed: seed, operations: 60)
    writer.beginTransaction()
    _ = HashDatabaseTests.scramble(&writer, seed: seed + 1, operations: 60)
    return (writer, before)
  }

  @Test(
    "The write-ahead file of an unfinished transaction rolls the transaction back",
    arguments: HashDatabaseWriter.Format.all.filter { $0.alignmentPower % 4 == 0 })
  func rollBack(_ format: HashDatabaseWriter.Format) throws {
    for seed: UInt64 in 1...5 {
      let folder = try TemporaryFolder()
      let (writer, before) = unfinished(format, seed: seed)
      let url = try folder.write(writer.bytes)
      _ = try folder.write(writer.log!, "Song.wal")

      let database = try HashDatabase(url)
      var contents: Contents = [:]
      let report = try database.forEach { contents[$0.key] = $0.value }

      #expect(contents == before)
      #expect(report == HashDatabaseReport(recordCount: before.count))
      guard case .rolledBack = database.recovery else {
        Issue.record("\(database.recovery)")
        return
      }
    }
  }

  @Test("An incomplete last entry is ignored, because its range was not overwritten yet")
  func incompleteEntry() throws {
    let (writer, before) = unfinished(.init(), seed: 9)
    var last = writer
    let length = last.log!.count
    last.overwrite(last.firstBlock, Array(last.bytes[last.firstBlock..<last.firstBlock + 40]))
    for end in length..<last.log!.count {
      let folder = try TemporaryFolder()
      let url = try folder.write(writer.bytes)
      _ = try folder.write(Array(last.log![..<end]), "Song.wal")

      #expect(try HashDatabaseTests.read(url).contents == before)
    }
  }

  @Test("A write-ahead file without a complete first entry, or beside a closed file, is ignored")
  func ignored() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    let before = HashDatabaseTests.scramble(&writer, seed: 1, operations: 40)
    let closed = writer
    writer.beginTransaction()
    let open = writer

    for length in [0, 8, 20, 275] {
      let url = try folder.write(open.bytes)
      _ = try folder.write(Array(open.log![..<length]), "Song.wal")
      #expect(try HashDatabase(url).recovery == .none)
      #expect(try HashDatabaseTests.read(url).contents == before)
    }
    let url = try folder.write(closed.bytes)
    _ = try folder.write(Array(repeating: 0xEE, count: 400), "Song.wal")
    #expect(try HashDatabase(url).recovery == .none)
    #expect(try HashDatabaseTests.read(url).contents == before)
  }

  @Test("A damaged write-ahead file is reported, and never crashes")
  func damagedLog() throws {
    let folder = try TemporaryFolder()
    let (writer, _) = unfinished(.init(bucketCount: 3), seed: 2)
    let url = try folder.write(writer.bytes)
    for offset in 0..<min(400, writer.log!.count) {
      for bit: UInt8 in [0x01, 0x80] {
        var log = writer.log!
        log[offset] ^= bit
        _ = try folder.write(log, "Song.wal")
        _ = try? HashDatabaseTests.read(url)
      }
    }
    var log = writer.log!
    // The second entry would overwrite what lies after the original end.
    log.replaceSubrange(276..<284, with: Array(repeating: 0xFF, count: 8))
    _ = try folder.write(log, "Song.wal")

    #expect(try HashDatabase(url).recovery == .damaged(entries: 1, offset: 276))
  }

  @Test(
    "An entry beyond both files does not extend the copy; beyond the original end it is damage",
    arguments: [false, true])
  func farEntry(isBeyondEnd: Bool) throws {
    let folder = try TemporaryFolder()
    let (writer, _) = unfinished(.init(), seed: 3)
    let far = Int64(1) << 40
    let url = try folder.write(writer.bytes)
    let entry = writer.number(far) + writer.number(UInt32(1)) + [0]
    let size = isBeyondEnd ? far : far + 1
    _ = try folder.write(
      writer.number(size) + Array(writer.log![8..<276]) + entry, "Song.wal")

    let database = try HashDatabase(url)

    #expect(
      database.recovery
        == (isBeyondEnd ? .damaged(entries: 1, offset: 276) : .rolledBack(entries: 1)))
    #expect(database.reader.file.count == Int64(writer.bytes.count))
  }

  @Test("In a truncated database, the entries after one of the lost part are rolled back")
  func truncatedDatabase() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    writer.put([1], Array(repeating: 7, count: 10_000))
    let before = writer.bytes
    let kept = writer.firstBlock + 64
    writer.beginTransaction()
    writer.overwrite(before.count - 1, [9])
    writer.overwrite(kept - 3, [1, 2, 3])
    let url = try folder.write(Array(writer.bytes[..<kept]))
    _ = try folder.write(writer.log!, "Song.wal")

    let database = try HashDatabase(url)

    // The header, its flag and the last entry.
    #expect(database.recovery == .rolledBack(entries: 3))
    #expect(database.reader.file.count == Int64(kept))
    let restored = try database.reader.file.bytes(0, kept)
    #expect(restored?.elementsEqual(before[..<kept]) == true)
  }
}
