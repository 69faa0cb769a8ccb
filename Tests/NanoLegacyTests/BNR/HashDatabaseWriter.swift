// SPDX-License-Identifier: MIT

import Foundation

/// Writes hash databases as Tokyo Cabinet writes them, in every variant of the format.
struct HashDatabaseWriter {
  struct Format: Sendable, Hashable, CustomStringConvertible {
    var alignmentPower = 4
    var poolPower = 0
    var isLarge = false
    var isBigEndian = false
    var bucketCount = 7

    var description: String {
      "alignment 2^\(alignmentPower), pool 2^\(poolPower), \(isLarge ? 64 : 32) bits, "
        + "\(isBigEndian ? "big" : "little")-endian, \(bucketCount) buckets"
    }

    static let all: [Format] = (0...16).flatMap { power in
      [false, true].flatMap { isLarge in
        [false, true].map { isBigEndian in
          Format(
            alignmentPower: power, poolPower: power % 5, isLarge: isLarge, isBigEndian: isBigEndian,
            bucketCount: [1, 7, 53][power % 3])
        }
      }
    }
  }

  let format: Format
  private(set) var bytes: [UInt8]
  private(set) var recordCount = 0
  let firstBlock: Int
  /// The ranges of records: key, offset, end of the value, end of the padding.
  private(set) var extents: [[UInt8]: (offset: Int, contentEnd: Int, end: Int)] = [:]
  private var freeBlocks: [(offset: Int, size: Int)] = []
  /// The write-ahead file of the current transaction.
  private(set) var log: [UInt8]?
  private var originalSize = 0

  init(_ format: Format = Format()) {
    self.format = format
    let alignment = 1 << format.alignmentPower
    let end = 256 + format.bucketCount * (format.isLarge ? 8 : 4) + 64 + 4 << format.poolPower
    firstBlock = (end + alignment - 1) / alignment * alignment
    bytes = Array(repeating: 0, count: firstBlock)
    bytes.replaceSubrange(0..<22, with: Array("ToKyO CaBiNeT\n1.0:905\n".utf8))
    bytes[34] = UInt8(format.alignmentPower)
    bytes[35] = UInt8(format.poolPower)
    bytes[36] = format.isLarge ? 1 : 0
    overwrite(40, number(UInt64(format.bucketCount)))
    overwrite(64, number(UInt64(firstBlock)))
    updateHeader()
  }

  mutating func put(_ key: [UInt8], _ value: [UInt8]) {
    let entry = find(key)
    let header = recordHeader(key, value)
    let size = header.count + key.count + value.count
    if let old = entry.record {
      let capacity = extents[key]!.end - old
      if size <= capacity, capacity - size <= Int(UInt16.max) {
        return write(key, value, at: old, capacity: capacity, children: children(old))
      }
      // The record moves, and its children move with it.
      let kept = children(old)
      release(old, capacity)
      let target = allocate(size)
      write(key, value, at: target.offset, capacity: target.size, children: kept)
      overwrite(entry.pointer, offsetBytes(target.offset))
    } else {
      let target = allocate(size)
      write(key, value, at: target.offset, capacity: target.size, children: (0, 0))
      overwrite(entry.pointer, offsetBytes(target.offset))
      recordCount += 1
    }
    updateHeader()
  }

  mutating func remove(_ key: [UInt8]) {
    let entry = find(key)
    guard let offset = entry.record, let extent = extents[key] else { return }
    let (left, right) = children(offset)
    release(offset, extent.end - offset)
    var child = left == 0 ? right : left
    if left != 0, right != 0 {
      var last = left
      while children(last).right != 0 { last = children(last).right }
      overwrite(last + 2 + offsetSize, offsetBytes(right))
      child = left
    }
    overwrite(entry.pointer, offsetBytes(child))
    extents[key] = nil
    recordCount -= 1
    updateHeader()
  }

  /// Sets the flag of a file that was not closed.
  mutating func markOpen() { overwrite(33, [bytes[33] | 1]) }

  mutating func beginTransaction() {
    originalSize = bytes.count
    log = number(UInt64(originalSize))
    record(0, 256)
    markOpen()
  }

  /// Overwrites bytes, as damage or as a test of the writer.
  mutating func overwrite(_ offset: Int, _ content: [UInt8]) {
    record(offset, content.count)
    bytes.replaceSubrange(offset..<offset + content.count, with: content)
  }

  func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
    withUnsafeBytes(of: format.isBigEndian ? value.bigEndian : value.littleEndian) { Array($0) }
  }

  private var offsetSize: Int { format.isLarge ? 8 : 4 }
  private var alignment: Int { 1 << format.alignmentPower }

  private mutating func record(_ offset: Int, _ size: Int) {
    guard log != nil else { return }
    let size = min(size, originalSize - offset)
    guard size > 0 else { return }
    log! += number(UInt64(offset)) + number(UInt32(size)) + bytes[offset..<offset + size]
  }

  private mutating func updateHeader() {
    overwrite(48, number(UInt64(recordCount)))
    overwrite(56, number(UInt64(bytes.count)))
  }

  private func offsetBytes(_ offset: Int) -> [UInt8] {
    format.isLarge
      ? number(UInt64(offset >> format.alignmentPower))
      : number(UInt32(offset >> format.alignmentPower))
  }

  private func storedOffset(_ position: Int) -> Int {
    let stored = bytes[position..<position + offsetSize]
    let ordered = format.isBigEndian ? Array(stored) : stored.reversed()
    return ordered.reduce(0) { $0 << 8 | Int($1) } << format.alignmentPower
  }

  private func children(_ record: Int) -> (left: Int, right: Int) {
    (storedOffset(record + 2), storedOffset(record + 2 + offsetSize))
  }

  static func variableNumber(_ value: Int) -> [UInt8] {
    var groups: [UInt8] = []
    var rest = value
    repeat {
      let group = UInt8(rest & 0x7F)
      rest >>= 7
      groups.append(rest > 0 ? ~group : group)
    } while rest > 0
    return groups
  }

  private func recordHeader(_ key: [UInt8], _ value: [UInt8]) -> [UInt8] {
    [0xC8, Self.hash(key)] + Array(repeating: 0, count: 2 * offsetSize + 2)
      + Self.variableNumber(key.count) + Self.variableNumber(value.count)
  }

  private mutating func write(
    _ key: [UInt8], _ value: [UInt8], at offset: Int, capacity: Int,
    children: (left: Int, right: Int)
  ) {
    var record = recordHeader(key, value)
    record.replaceSubrange(2..<2 + offsetSize, with: offsetBytes(children.left))
    record.replaceSubrange(
      2 + offsetSize..<2 + 2 * offsetSize, with: offsetBytes(children.right))
    let padding = capacity - record.count - key.count - value.count
    record.replaceSubrange(
      2 + 2 * offsetSize..<4 + 2 * offsetSize, with: number(UInt16(padding)))
    record += key + value
    extents[key] = (offset, offset + record.count, offset + capacity)
    record += Array(repeating: 0, count: padding)
    if offset == bytes.count {
      bytes += record
    } else {
      overwrite(offset, record)
    }
  }

  /// Returns a free block of a sufficient size, whose rest remains free, or the end of the file.
  private mutating func allocate(_ size: Int) -> (offset: Int, size: Int) {
    let needed = (size + alignment - 1) / alignment * alignment
    if let index = freeBlocks.firstIndex(where: { $0.size >= needed }) {
      let block = freeBlocks.remove(at: index)
      guard block.size >= 2 * needed || block.size - size > Int(UInt16.max) else {
        return block
      }
      release(block.offset + needed, block.size - needed)
      return (block.offset, needed)
    }
    return (bytes.count, needed)
  }

  private mutating func release(_ offset: Int, _ size: Int) {
    overwrite(offset, [0xB0] + number(UInt32(size)))
    freeBlocks.append((offset, size))
  }

  /// Returns the record with a key, if it exists, and the position of the offset that leads to it.
  private func find(_ key: [UInt8]) -> (record: Int?, pointer: Int) {
    var index: UInt64 = 19_780_211
    for byte in key { index = index &* 37 &+ UInt64(byte) }
    var pointer = 256 + Int(index % UInt64(format.bucketCount)) * offsetSize
    while true {
      let record = storedOffset(pointer)
      guard record != 0 else { return (nil, pointer) }
      let other = extents.first { $0.value.offset == record }!.key
      if other == key { return (record, pointer) }
      pointer = record + 2 + (Self.precedes(key, other) ? 0 : offsetSize)
    }
  }

  private static func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    if hash(a) != hash(b) { return hash(a) > hash(b) }
    if a.count != b.count { return a.count > b.count }
    return b.lexicographicallyPrecedes(a)
  }

  static func hash(_ key: [UInt8]) -> UInt8 {
    UInt8(truncatingIfNeeded: key.reversed().reduce(UInt32(751)) { $0 &* 31 ^ UInt32($1) })
  }
}

/// Files of a test, in a folder that is removed at the end.
struct TemporaryFolder: ~Copyable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "bnr-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func write(_ bytes: [UInt8], _ name: String = "Song") throws -> URL {
    let file = url.appending(path: name)
    try Data(bytes).write(to: file)
    return file
  }
}
