// SPDX-License-Identifier: MIT

import NanoDocument

/// The header of a record in a hash database, and the ranges that it describes.
struct HashRecord {
  let offset: Int64
  let hash: UInt8
  /// The offsets of the children in the bucket's binary tree, 0 for none.
  let left: Int64
  let right: Int64
  let keyOffset: Int64
  let keySize: Int
  let valueSize: Int
  let padding: Int

  var valueOffset: Int64 { keyOffset + Int64(keySize) }
  var contentEnd: Int64 { valueOffset + Int64(valueSize) }
  var end: Int64 { contentEnd + Int64(padding) }
}

enum HashBlock {
  case record(HashRecord)
  case free(end: Int64)
  case damaged(HashDatabaseDamage.Reason)

  /// The end of a readable block.
  var end: Int64? {
    switch self {
    case .record(let record): record.end
    case .free(let end): end
    case .damaged: nil
    }
  }
}

/// Reads single blocks and validates every number in them.
struct HashBlockReader {
  let file: WindowedFile
  let header: HashDatabaseHeader

  static let recordMagic: UInt8 = 0xC8
  static let freeMagic: UInt8 = 0xB0
  /// The smallest block is a record without a key, a value and padding, or a free block left by it.
  private var minimumSize: Int64 { header.isLarge ? 22 : 14 }
  /// Larger than any record header.
  private static let maximumHeaderSize: Int64 = 32

  /// - Parameter limit: The end of the area that the block must not exceed.
  func block(_ offset: Int64, limit: Int64) throws(StoreError) -> HashBlock {
    let end = min(limit, file.count)
    guard offset < end else { return .damaged(.exceedsFile) }
    let available = Int(min(Self.maximumHeaderSize, end - offset))
    guard let bytes = try file.bytes(offset, available) else { return .damaged(.exceedsFile) }
    switch bytes[0] {
    case Self.freeMagic: return freeBlock(offset, bytes, end)
    case Self.recordMagic: return record(offset, bytes, end)
    default: return .damaged(.notABlock)
    }
  }

  private func freeBlock(_ offset: Int64, _ bytes: UnsafeRawBufferPointer, _ limit: Int64)
    -> HashBlock
  {
    guard bytes.count >= 5 else { return .damaged(.exceedsFile) }
    let size = Int64(bytes.unsigned32(1, header.isBigEndian))
    guard size >= 5, size & (header.alignment - 1) == 0 else { return .damaged(.invalidSize) }
    return size <= limit - offset ? .free(end: offset + size) : .damaged(.exceedsFile)
  }

  private func record(_ offset: Int64, _ bytes: UnsafeRawBufferPointer, _ limit: Int64) -> HashBlock
  {
    let numbers = 2 + 2 * header.offsetSize + 2
    guard bytes.count > numbers else { return .damaged(.exceedsFile) }
    var position = numbers
    guard let keySize = Self.variableNumber(bytes, &position),
      let valueSize = Self.variableNumber(bytes, &position)
    else { return .damaged(.invalidSize) }
    let record = HashRecord(
      offset: offset, hash: bytes[1], left: child(bytes, 2),
      right: child(bytes, 2 + header.offsetSize), keyOffset: offset + Int64(position),
      keySize: keySize, valueSize: valueSize,
      padding: Int(bytes.unsigned16(numbers - 2, header.isBigEndian)))
    guard record.end <= limit else { return .damaged(.exceedsFile) }
    // Blocks begin at multiples of the alignment, so sizes are multiples of it too.
    guard (record.end - offset) & (header.alignment - 1) == 0 else { return .damaged(.invalidSize) }
    return .record(record)
  }

  /// Returns -1 for an offset that does not fit into a file.
  private func child(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> Int64 {
    let units =
      header.isLarge
      ? bytes.unsigned64(position, header.isBigEndian)
      : UInt64(bytes.unsigned32(position, header.isBigEndian))
    return fileOffset(units)
  }

  private func fileOffset(_ units: UInt64) -> Int64 {
    units <= UInt64(Int64.max) >> UInt64(header.alignmentPower)
      ? Int64(units) << Int64(header.alignmentPower) : -1
  }

  /// Reads a number in base 128, least significant group first, in which the bytes before the last are
  /// the complement of their group. Returns `nil` unless it is the shortest form of a 31-bit number.
  static func variableNumber(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Int? {
    var value: UInt64 = 0
    for group in 0..<5 {
      guard position < bytes.count else { return nil }
      let byte = bytes[position]
      position += 1
      let isLast = byte < 0x80
      value |= UInt64(isLast ? byte : ~byte) << UInt64(7 * group)
      guard isLast else { continue }
      guard group == 0 || byte != 0, value <= UInt64(Int32.max) else { return nil }
      return Int(value)
    }
    return nil
  }
}

extension HashBlockReader {
  func key(_ record: HashRecord) throws(StoreError) -> [UInt8] {
    try file.bytes(record.keyOffset, record.keySize).map { [UInt8]($0) } ?? []
  }

  func value(_ record: HashRecord) throws(StoreError) -> [UInt8] {
    try file.bytes(record.valueOffset, record.valueSize).map { [UInt8]($0) } ?? []
  }

  /// Returns whether the record's hash byte is the hash of its key, which detects damaged keys.
  func hashMatches(_ record: HashRecord) throws(StoreError) -> Bool {
    guard let key = try file.bytes(record.keyOffset, record.keySize) else { return false }
    return Self.hash(key) == record.hash
  }

  /// Returns whether the padding consists of zeros, as written; otherwise the sizes may be damaged.
  func paddingIsZero(_ record: HashRecord) throws(StoreError) -> Bool {
    try file.bytes(record.contentEnd, record.padding)?.allSatisfy { $0 == 0 } ?? false
  }

  static func hash(_ key: some BidirectionalCollection<UInt8>) -> UInt8 {
    var hash: UInt32 = 751
    for byte in key.reversed() { hash = (hash &* 31) ^ UInt32(byte) }
    return UInt8(truncatingIfNeeded: hash)
  }

  func bucketIndex(_ key: some Collection<UInt8>) -> Int64 {
    var index: UInt64 = 19_780_211
    for byte in key { index = index &* 37 &+ UInt64(byte) }
    return Int64(index % UInt64(header.bucketCount))
  }

  /// The number of buckets that the file contains completely. The header of a small file can claim 2^48.
  var presentBucketCount: Int64 {
    let size = max(0, file.count - Int64(HashDatabaseHeader.size))
    return min(header.bucketCount, size / Int64(header.offsetSize))
  }

  /// Returns the offset of the root of a bucket's tree, 0 for an empty bucket, -1 for an invalid offset.
  func root(_ bucket: Int64) throws(StoreError) -> Int64 {
    let size = header.offsetSize
    let position = Int64(HashDatabaseHeader.size) + bucket * Int64(size)
    guard let bytes = try file.bytes(position, size) else { return -1 }
    return child(bytes, 0)
  }
}
