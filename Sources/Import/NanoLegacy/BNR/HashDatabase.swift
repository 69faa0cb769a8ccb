// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Reads a Tokyo Cabinet hash database, in constant memory and without changing the file.
///
/// In an undamaged file, records are returned in file order. In a damaged file, the bucket array decides
/// which records are current: first the records that it leads to are returned, then those that only a
/// scan finds because damage cut them off.
final class HashDatabase {
  /// A key and its value.
  struct Record {
    let offset: Int64
    let key: [UInt8]
    let value: [UInt8]
  }

  let header: HashDatabaseHeader
  /// What became of the write-ahead file of an unfinished transaction.
  let recovery: HashDatabaseRecovery
  let reader: HashBlockReader
  /// Whether the blocks follow each other without damage and are as many as the header says; `nil` until
  /// the file has been checked.
  private var isIntact: Bool?

  /// Larger values than this are reported instead of returned: no document can hold them.
  static let maximumValueSize = 1 << 30

  /// Opens a file, and recovers a private copy if it has the write-ahead file of an unfinished
  /// transaction.
  ///
  /// - Throws: ``StoreError/Code/notADatabase``; ``StoreError/Code/unsupported`` for compressed records;
  ///   ``StoreError/Code/corruptFile`` if the header is beyond repair; ``StoreError/Code/cannotOpen``;
  ///   ``StoreError/Code/inputOutput``.
  init(_ url: URL) throws(StoreError) {
    let path = url.path(percentEncoded: false)
    let opened = try HashDatabaseRecovery.open(path)
    do throws(StoreError) {
      header = try Self.header(opened.file)
    } catch {
      throw error.adding(.path, path)
    }
    recovery = opened.recovery
    reader = HashBlockReader(file: opened.file, header: header)
  }

  /// Returns whether a file begins with the signature of Tokyo Cabinet.
  static func isDatabase(_ url: URL) throws(StoreError) -> Bool {
    let file = try WindowedFile(url.path(percentEncoded: false))
    guard let start = try file.bytes(0, min(32, Int(clamping: file.count))) else { return false }
    return HashDatabaseHeader.hasMagic(start)
  }

  private static func header(_ file: WindowedFile) throws(StoreError) -> HashDatabaseHeader {
    let size = Int(min(Int64(HashDatabaseHeader.size), file.count))
    guard let start = try file.bytes(0, size) else {
      throw StoreError(.inputOutput, "The file cannot be read")
    }
    let readings = try HashDatabaseHeader.readings(start, fileSize: file.count)
    var best: (header: HashDatabaseHeader, blocks: Int)?
    for header in [readings.consistent].compactMap({ $0 }) + readings.inferred {
      let blocks = try leadingBlocks(file, header)
      if blocks == maximumLeadingBlocks, header.inferredFields.isEmpty { return header }
      // Of two readings that fit, the one that starts later would lose blocks.
      if let best, (blocks, best.header.firstBlock) <= (best.blocks, header.firstBlock) { continue }
      best = (header, blocks)
    }
    // The fields of a damaged header can agree by chance, but then another reading fits completely.
    if let consistent = readings.consistent, best?.blocks != maximumLeadingBlocks {
      return consistent
    }
    guard let best else {
      throw StoreError(
        .corruptFile, "The header of the database is damaged beyond repair",
        [.hint: "restore the file from a backup"])
    }
    return best.header
  }

  /// Arbitrary; with a wrong alignment or offset size, the first or second block is not readable.
  private static let maximumLeadingBlocks = 64

  /// Returns how many blocks, up to a limit, follow each other where the header expects them.
  private static func leadingBlocks(
    _ file: WindowedFile, _ header: HashDatabaseHeader
  ) throws(StoreError) -> Int {
    let reader = HashBlockReader(file: file, header: header)
    var offset = header.firstBlock
    for count in 0..<maximumLeadingBlocks {
      guard offset < header.usedSize else { return maximumLeadingBlocks }
      let block = try reader.block(offset, limit: header.usedSize)
      guard let end = block.end else { return count }
      if case .record(let record) = block, try !reader.hashMatches(record) { return count }
      offset = end
    }
    return maximumLeadingBlocks
  }

  /// Passes each readable record to a closure, and returns what was found.
  ///
  /// - Throws: ``StoreError/Code/inputOutput``, or the error of the closure, which ends the iteration.
  func forEach(
    _ body: (Record) throws(StoreError) -> Void
  ) throws(StoreError) -> HashDatabaseReport {
    if isIntact == nil { isIntact = try checkChain() }
    guard isIntact == true else {
      var salvage = HashDatabaseSalvage(reader: reader)
      return try salvage.run(body)
    }
    var report = HashDatabaseReport()
    var offset = header.firstBlock
    while offset < header.usedSize {
      let block = try reader.block(offset, limit: header.usedSize)
      guard let end = block.end else {
        throw StoreError(.inputOutput, "The file changed while it was read")
      }
      if case .record(let record) = block { try reader.emit(record, &report, body) }
      offset = end
    }
    return report
  }

  /// Returns whether every block is readable, and the number of records is that of the header.
  private func checkChain() throws(StoreError) -> Bool {
    guard header.inferredFields.isEmpty else { return false }
    var offset = header.firstBlock
    var count: Int64 = 0
    while offset < header.usedSize {
      let block = try reader.block(offset, limit: header.usedSize)
      guard let end = block.end else { return false }
      if case .record(let record) = block {
        guard try reader.hashMatches(record), try reader.paddingIsZero(record) else { return false }
        count += 1
      }
      offset = end
    }
    return count == header.recordCount
  }
}

extension HashBlockReader {
  /// Passes a record to a closure, or reports it if its value is too large.
  func emit(
    _ record: HashRecord, _ report: inout HashDatabaseReport,
    _ body: (HashDatabase.Record) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard record.valueSize <= HashDatabase.maximumValueSize else {
      report.add(
        HashDatabaseDamage(
          offset: record.offset, length: record.end - record.offset, reason: .valueTooLarge))
      return
    }
    report.recordCount += 1
    try body(
      HashDatabase.Record(offset: record.offset, key: key(record), value: value(record)))
  }
}
