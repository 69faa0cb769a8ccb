// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The header of a Tokyo Cabinet hash database, format 1.0.
struct HashDatabaseHeader: Equatable {
  static let size = 256

  /// The byte order of integers in the header, the bucket array and the blocks.
  ///
  /// Tokyo Cabinet writes little-endian integers on every processor. Files with big-endian integers come
  /// from builds with `--enable-swab`, and from builds for PowerPC that were configured on Intel.
  var isBigEndian = false
  /// Whether the file was not closed after it was last opened for writing.
  var isOpen = false
  /// Whether the library detected an error while it wrote the file.
  var hasFatalError = false
  /// The binary logarithm of the alignment of blocks.
  var alignmentPower = 0
  /// The binary logarithm of the capacity of the free-block pool.
  var poolPower = 0
  /// Whether offsets have 64 bits instead of 32.
  var isLarge = false
  var bucketCount: Int64 = 0
  var recordCount: Int64 = 0
  /// The number of bytes in use; the file can be larger.
  var usedSize: Int64 = 0
  /// The number of bytes in use that the file no longer has.
  var missingSize: Int64 = 0
  /// The offset of the first block.
  var firstBlock: Int64 = 0
  /// The names of the fields that contradicted the others and were inferred from them.
  var inferredFields: [String] = []

  var alignment: Int64 { 1 << Int64(alignmentPower) }
  var offsetSize: Int { isLarge ? 8 : 4 }

  static func hasMagic(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.starts(with: "ToKyO CaBiNeT\n".utf8)
  }

  /// Reads the header in the byte order in which its fields agree, and in alternative ways in which one
  /// field is inferred from the others, because it may be damaged.
  ///
  /// - Throws: ``StoreError/Code/notADatabase`` without the format's signature,
  ///   ``StoreError/Code/unsupported`` for other formats of the library and for compressed records,
  ///   ``StoreError/Code/corruptFile`` for a truncated header.
  static func readings(
    _ bytes: UnsafeRawBufferPointer, fileSize: Int64
  ) throws(StoreError) -> (consistent: HashDatabaseHeader?, inferred: [HashDatabaseHeader]) {
    guard hasMagic(bytes) else {
      throw StoreError(.notADatabase, "The file is not a Tokyo Cabinet database")
    }
    guard bytes.count >= size else {
      throw StoreError(
        .corruptFile, "The header of the database is truncated",
        [.byteOffset: "\(bytes.count)", .expected: "\(size) bytes"])
    }
    try checkKind(bytes)
    let readings = [false, true].map { HashDatabaseHeader(bytes, isBigEndian: $0) }
    let consistent = readings.first { $0.isConsistent }
    let inferred = (consistent.map { [$0] } ?? readings).flatMap { $0.repairs(fileSize: fileSize) }
    return (
      consistent?.usingPlausibleSize(fileSize), inferred.map { $0.usingPlausibleSize(fileSize) }
    )
  }

  private init(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
    self.isBigEndian = isBigEndian
    isOpen = bytes[33] & 1 != 0
    hasFatalError = bytes[33] & 2 != 0
    alignmentPower = Int(bytes[34])
    poolPower = Int(bytes[35])
    isLarge = bytes[36] & 1 != 0
    bucketCount = bytes.signed64(40, isBigEndian)
    recordCount = bytes.signed64(48, isBigEndian)
    usedSize = bytes.signed64(56, isBigEndian)
    firstBlock = bytes.signed64(64, isBigEndian)
  }

  private static func checkKind(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    let kinds = ["hash", "B+ tree", "fixed-length", "table"]
    guard bytes[32] == 0 else {
      throw StoreError(
        .unsupported, "The file is not a hash database",
        [
          .byteOffset: "32", .expected: "0 (hash)",
          .actual: Int(bytes[32]) < kinds.count ? kinds[Int(bytes[32])] : "\(bytes[32])",
        ])
    }
    let compressions = [(2, "Deflate"), (4, "BZIP2"), (8, "TCBS"), (16, "a custom codec")]
    if let used = compressions.first(where: { Int(bytes[36]) & $0.0 != 0 }) {
      throw StoreError(
        .unsupported, "The records of the database are compressed",
        [
          .byteOffset: "36", .actual: "option \(used.0), \(used.1)",
          .hint: "rewrite the file with Tokyo Cabinet's 'tchmgr optimize -nc' first",
        ])
    }
    guard bytes[36] & 0xE0 == 0 else {
      throw StoreError(
        .unsupported, "The database has unknown options",
        [.byteOffset: "36", .actual: "\(bytes[36])"])
    }
  }
}

extension HashDatabaseHeader {
  /// The capacity of the pool in bytes is this plus four bytes for each free block.
  private static let poolBase: Int64 = 64
  /// The library never uses more, nor a larger pool power.
  static let maximumAlignmentPower = 16
  static let maximumPoolPower = 20

  /// The offset of the first block that follows from the other fields, or `nil` if they are out of range.
  var expectedFirstBlock: Int64? {
    guard 0...Self.maximumAlignmentPower ~= alignmentPower,
      0...Self.maximumPoolPower ~= poolPower,
      bucketCount > 0, bucketCount <= Int64(1) << 48
    else { return nil }
    let end =
      Int64(Self.size) + bucketCount * Int64(offsetSize) + Self.poolBase
      + Int64(4) << Int64(poolPower)
    return (end + alignment - 1) & ~(alignment - 1)
  }

  private var isConsistent: Bool { expectedFirstBlock == firstBlock }

  /// Returns each header with one inferred field in which the fields agree.
  fileprivate func repairs(fileSize: Int64) -> [HashDatabaseHeader] {
    var repairs: [HashDatabaseHeader] = []
    func add(_ field: String, _ change: (inout HashDatabaseHeader) -> Void) {
      var copy = self
      change(&copy)
      guard copy.isConsistent, copy.firstBlock <= fileSize else { return }
      copy.inferredFields = [field]
      repairs.append(copy)
    }
    if let expected = expectedFirstBlock {
      add("offset of the first block") { $0.firstBlock = expected }
    }
    add("options") { $0.isLarge.toggle() }
    for power in 0...Self.maximumAlignmentPower where power != alignmentPower {
      add("alignment power") { $0.alignmentPower = power }
    }
    for power in 0...Self.maximumPoolPower where power != poolPower {
      add("free-block pool power") { $0.poolPower = power }
    }
    if let probable = probableBucketCount {
      add("number of buckets") { $0.bucketCount = probable }
    }
    return repairs
  }

  /// The number of buckets that fits before the first block. The alignment leaves a few open, of which the
  /// library uses a prime number.
  private var probableBucketCount: Int64? {
    guard 0...Self.maximumAlignmentPower ~= alignmentPower, 0...Self.maximumPoolPower ~= poolPower,
      firstBlock > 0
    else { return nil }
    let rest = firstBlock - Int64(Self.size) - Self.poolBase - Int64(4) << Int64(poolPower)
    let most = rest / Int64(offsetSize)
    let fewest = max(1, most - alignment / Int64(offsetSize))
    guard most >= fewest else { return nil }
    // A larger number is not tested by trial division. Arbitrary.
    guard most < 1 << 32 else { return most }
    return (fewest...most).reversed().first(where: Self.isPrime) ?? most
  }

  private static func isPrime(_ number: Int64) -> Bool {
    guard number > 3 else { return number > 1 }
    guard number % 2 != 0 else { return false }
    var divisor: Int64 = 3
    while divisor * divisor <= number {
      if number % divisor == 0 { return false }
      divisor += 2
    }
    return true
  }

  private func usingPlausibleSize(_ fileSize: Int64) -> HashDatabaseHeader {
    guard usedSize < firstBlock || usedSize > fileSize else { return self }
    var copy = self
    copy.missingSize = max(0, usedSize - fileSize)
    copy.usedSize = max(fileSize, firstBlock)
    copy.inferredFields.append("size in use")
    return copy
  }
}

extension UnsafeRawBufferPointer {
  // The caller has checked the bounds.
  func unsigned16(_ offset: Int, _ isBigEndian: Bool) -> UInt16 {
    let value = loadUnaligned(fromByteOffset: offset, as: UInt16.self)
    return isBigEndian ? UInt16(bigEndian: value) : UInt16(littleEndian: value)
  }
  func unsigned32(_ offset: Int, _ isBigEndian: Bool) -> UInt32 {
    let value = loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
  }
  func unsigned64(_ offset: Int, _ isBigEndian: Bool) -> UInt64 {
    let value = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return isBigEndian ? UInt64(bigEndian: value) : UInt64(littleEndian: value)
  }
  /// Returns -1, which no field of the format allows, for a number that does not fit.
  func signed64(_ offset: Int, _ isBigEndian: Bool) -> Int64 {
    Int64(exactly: unsigned64(offset, isBigEndian)) ?? -1
  }
}
