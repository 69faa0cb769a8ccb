// SPDX-License-Identifier: MIT

import NanoDocument

/// Reads a damaged hash database.
///
/// Records that the bucket array leads to come first. Then the blocks are scanned; after damage, the scan
/// continues at the next offset, by the alignment, at which a readable block begins. A scanned record
/// that the bucket array should lead to, but does not, is a stale version if it lies in an area that the
/// scan entered by guessing. If damage interrupts the path to it, it is returned.
struct HashDatabaseSalvage {
  typealias Body = (HashDatabase.Record) throws(StoreError) -> Void

  private let reader: HashBlockReader
  private let index: HashDatabaseIndex
  private var report = HashDatabaseReport()

  /// The next offset of the scan.
  private var offset: Int64
  /// Whether the scan is known to be at the beginning of a block.
  private var isTrusted = true
  /// Where the current damaged range begins.
  private var damage: HashDatabaseDamage?
  /// The end of a record that was accepted, but whose content is scanned because its size is suspect.
  private var acceptedEnd: Int64 = 0
  /// The bytes of the records that may still be returned.
  private var allowance: Int64

  /// Records of an undamaged file do not overlap, so together they are smaller than the file. Arbitrary; leaves room
  /// for records inside others whose sizes are damaged.
  private static let maximumExpansion: Int64 = 4

  init(reader: HashBlockReader) {
    self.reader = reader
    index = HashDatabaseIndex(reader: reader)
    offset = reader.header.firstBlock
    allowance = reader.file.count * Self.maximumExpansion
  }

  /// Passes each readable record to a closure. Two unindexed records can have the same key.
  mutating func run(_ body: Body) throws(StoreError) -> HashDatabaseReport {
    let index = index
    try index.forEach { (record) throws(StoreError) in _ = try emit(record, body) }
    while offset < reader.file.count { try step(body) }
    endDamage()
    let missing = reader.header.missingSize
    if missing > 0 {
      self.report.add(
        HashDatabaseDamage(offset: reader.file.count, length: missing, reason: .exceedsFile))
    }
    return self.report
  }

  private mutating func step(_ body: Body) throws(StoreError) {
    // The file is longer than the part in use while the library writes to it.
    if offset >= reader.header.usedSize {
      isTrusted = false
      endDamage()
    }
    switch try reader.block(offset, limit: reader.file.count) {
    case .free(let end): try skipFree(end)
    case .record(let record):
      if try accept(record, body) {
        try advance(past: record)
      } else {
        advanceByAlignment(isSuspect: false)
      }
    case .damaged(let reason):
      beginDamage(reason)
      advanceByAlignment(isSuspect: false)
    }
  }

  private mutating func skipFree(_ end: Int64) throws(StoreError) {
    if try isPlausibleBoundary(end) {
      endDamage()
      offset = end
    } else if isTrusted {
      // Either the next block or the size of this one is damaged.
      acceptedEnd = max(acceptedEnd, end)
      advanceByAlignment(isSuspect: true)
    } else {
      beginDamage(.suspectSize)
      advanceByAlignment(isSuspect: false)
    }
  }

  /// Returns or ignores a record, and returns whether it is one.
  private mutating func accept(_ record: HashRecord, _ body: Body) throws(StoreError) -> Bool {
    guard isTrusted || record.keySize <= Self.maximumDoubtfulKeySize else { return false }
    guard try reader.hashMatches(record) else { return try acceptMismatch(record, body) }
    switch try index.find(reader.key(record)) {
    case .found(record.offset):
      isTrusted = true
    case .found:
      report.staleCount += 1
    case .absent where !isTrusted:
      report.staleCount += 1
    case .broken where !isTrusted:
      guard try reader.paddingIsZero(record), try isPlausibleBoundary(record.end) else {
        return false
      }
      try emitUnindexed(record, body)
    case .absent, .broken:
      try emitUnindexed(record, body)
    }
    endDamage()
    return true
  }

  /// Handles a record whose hash or key is damaged. If the key's bucket leads directly to the record, it
  /// is the hash.
  private mutating func acceptMismatch(
    _ record: HashRecord, _ body: Body
  ) throws(StoreError) -> Bool {
    guard isTrusted else { return false }
    let bucket = reader.bucketIndex(try reader.key(record))
    if reader.header.bucketCount >= Self.minimumConvincingBucketCount,
      try reader.root(bucket) == record.offset
    {
      try emitUnindexed(record, body)
    } else {
      report.add(
        HashDatabaseDamage(
          offset: record.offset, length: record.end - record.offset, reason: .keyMismatch))
    }
    return true
  }

  /// With fewer buckets, a damaged key too often belongs to the same bucket. Arbitrary; the library's default
  /// is 131,071.
  private static let minimumConvincingBucketCount: Int64 = 1 << 16

  private mutating func emitUnindexed(_ record: HashRecord, _ body: Body) throws(StoreError) {
    if try emit(record, body) { report.unindexedCount += 1 }
  }

  /// Returns whether the record is within the allowance. Otherwise, a small file of overlapping records could
  /// return any number of bytes.
  private mutating func emit(_ record: HashRecord, _ body: Body) throws(StoreError) -> Bool {
    let size = record.end - record.offset
    guard size <= allowance else {
      report.add(HashDatabaseDamage(offset: record.offset, length: size, reason: .overlapping))
      return false
    }
    allowance -= size
    try reader.emit(record, &report, body)
    return true
  }

  private mutating func advance(past record: HashRecord) throws(StoreError) {
    let isPlausible = try isPlausibleBoundary(record.end)
    let paddingIsZero = try reader.paddingIsZero(record)
    if isPlausible && paddingIsZero || paddingIsZero && record.padding > 0 {
      offset = record.end
      return
    }
    // Other records may begin inside a record whose size is damaged.
    if !isPlausible {
      report.add(
        HashDatabaseDamage(
          offset: record.offset, length: record.end - record.offset, reason: .suspectSize))
    }
    acceptedEnd = max(acceptedEnd, record.end)
    advanceByAlignment(isSuspect: true)
  }

  private mutating func advanceByAlignment(isSuspect: Bool) {
    isTrusted = false
    offset += reader.header.alignment
    if isSuspect { endDamage() }
  }

  /// Longer keys are ignored where the scan guesses, to bound its duration. Arbitrary.
  private static let maximumDoubtfulKeySize = 1 << 12

  /// Returns whether a block, or the unused part of the file, begins at an offset.
  private func isPlausibleBoundary(_ offset: Int64) throws(StoreError) -> Bool {
    if offset == reader.header.usedSize || offset == reader.file.count { return true }
    return try reader.block(offset, limit: reader.file.count).end != nil
  }

  private mutating func beginDamage(_ reason: HashDatabaseDamage.Reason) {
    guard damage == nil, offset >= acceptedEnd, offset < reader.header.usedSize else { return }
    damage = HashDatabaseDamage(offset: offset, length: 0, reason: reason)
  }

  private mutating func endDamage() {
    guard var ended = damage else { return }
    ended.length = min(offset, reader.file.count) - ended.offset
    report.add(ended)
    damage = nil
  }
}
