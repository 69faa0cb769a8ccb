// SPDX-License-Identifier: MIT

import NanoDocument

/// Pending entries of the wildcard index, grouped by attribute and sorted when they are written, so that
/// neighbors in the B-tree are written together.
///
/// The scalar values of a document are collected first and become pending when the document is written.
///
/// Confined to the connection that created it.
package final class WildcardIndexBuffer {
  package struct Entry {
    /// The start of the value or the number, in an order close to the database's.
    var head: UInt64
    package var id: Int64 = 0
    /// The offset of the bytes, or the integer or double itself.
    package var payload: UInt64
    /// Orders the changes of one value.
    var sequence: UInt32 = 0
    package var attribute: Int32
    package var length: UInt16
    package var kind: Kind
    package var isRemoval = false
  }

  package enum Kind: UInt8 { case int, double, text, blob }

  /// The entries, indexed by attribute.
  private var buckets: [[Entry]] = []
  /// The scalar values of the current document.
  package private(set) var gathered: [Entry] = []
  package private(set) var count = 0
  /// Whether the current document is an old one whose entries are to be removed.
  package var isRemoving = false
  private var sequence: UInt32 = 0
  private(set) var arena: UnsafeMutablePointer<UInt8>
  private var arenaCapacity = 1 << 16
  private var arenaCount = 0

  /// The maximum size of a batch in bytes; as much as SQLite's page cache. Arbitrary: a larger batch writes
  /// fewer pages per entry.
  static let maximumSize = 16 << 20

  /// The number of bytes that stay allocated between transactions. Arbitrary.
  private static let retainedArenaCapacity = 1 << 18

  package init() { arena = .allocate(capacity: arenaCapacity) }
  deinit { arena.deallocate() }

  package var isEmpty: Bool { count == 0 }
  package var isFull: Bool { count * MemoryLayout<Entry>.stride + arenaCount >= Self.maximumSize }

  var attributes: Int { buckets.count }

  func withBucket<Result>(
    _ attribute: Int, _ work: (UnsafeMutableBufferPointer<Entry>) throws -> Result
  ) rethrows -> Result {
    try buckets[attribute].withUnsafeMutableBufferPointer { try work($0) }
  }

  package func bytes(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: arena + Int(entry.payload), count: Int(entry.length))
  }

  /// Makes the collected values pending, after the document was written or removed.
  package func commit(id: Int64) {
    for index in gathered.indices {
      var entry = gathered[index]
      entry.id = id
      entry.isRemoval = isRemoving
      entry.sequence = sequence
      sequence &+= 1
      let attribute = Int(entry.attribute)
      while buckets.count <= attribute { buckets.append([]) }
      buckets[attribute].append(entry)
    }
    count += gathered.count
    discard()
  }

  /// Discards the collected values, because the document was not written.
  package func discard() {
    isRemoving = false
    if count == 0 { arenaCount = 0 }
    gathered.removeAll(keepingCapacity: true)
  }

  package func removeAll() {
    // Memory used by a bulk load is not kept for the small transactions that follow.
    if isFull { (buckets, gathered) = ([], []) }
    for index in buckets.indices { buckets[index].removeAll(keepingCapacity: true) }
    (count, sequence) = (0, 0)
    discard()
    if arenaCapacity > Self.retainedArenaCapacity { shrink() }
  }
}

extension WildcardIndexBuffer {
  @inline(__always)
  func add(_ attribute: Int32, integer value: Int64) {
    gathered.append(
      Entry(
        head: Self.head(Double(value)), payload: UInt64(bitPattern: value), attribute: attribute,
        length: 0, kind: .int))
  }

  /// Stores an integer if the value is one, as in ``WildcardIndexValue``.
  func add(_ attribute: Int32, number: Double) {
    if let integer = Int64(exactly: number) { return add(attribute, integer: integer) }
    gathered.append(
      Entry(
        head: Self.head(number), payload: number.bitPattern, attribute: attribute, length: 0,
        kind: .double))
  }

  /// Adds a string without escapes, exactly as in the document.
  @inline(__always)
  func add(_ attribute: Int32, text: UnsafeRawBufferPointer) {
    if text.count <= WildcardIndexValue.maximumLength { return add(attribute, .text, text) }
    add(attribute, shortened: text)
  }

  @inline(never)
  private func add(_ attribute: Int32, shortened text: UnsafeRawBufferPointer) {
    WildcardIndexValue.shortened(text)?.withUnsafeBytes { add(attribute, .text, $0) }
  }

  func add(_ attribute: Int32, value: DocumentValue) {
    switch WildcardIndexValue(value) {
    case .int(let value)?: add(attribute, integer: value)
    case .double(let value)?: add(attribute, number: value)
    case .text(var text)?:
      text.withUTF8 { add(attribute, .text, UnsafeRawBufferPointer($0)) }
    case .data(let data)?: data.withUnsafeBytes { add(attribute, .blob, $0) }
    case nil: break
    }
  }

  @inline(__always)
  private func add(_ attribute: Int32, _ kind: Kind, _ bytes: UnsafeRawBufferPointer) {
    if arenaCount + bytes.count > arenaCapacity { grow(bytes.count) }
    if let start = bytes.baseAddress {
      UnsafeMutableRawPointer(arena + arenaCount).copyMemory(
        from: start, byteCount: bytes.count)
    }
    gathered.append(
      Entry(
        head: Self.head(bytes), payload: UInt64(arenaCount), attribute: attribute,
        length: UInt16(bytes.count), kind: kind))
    arenaCount += bytes.count
  }

  private func grow(_ needed: Int) {
    arenaCapacity = max(arenaCapacity * 2, arenaCount + needed)
    let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: arenaCapacity)
    grown.moveInitialize(from: arena, count: arenaCount)
    arena.deallocate()
    arena = grown
  }

  private func shrink() {
    arena.deallocate()
    arenaCapacity = Self.retainedArenaCapacity
    arena = .allocate(capacity: arenaCapacity)
  }

  @inline(__always)
  private static func head(_ number: Double) -> UInt64 {
    let bits = number.bitPattern
    return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
  }

  @inline(__always)
  private static func head(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    if bytes.count >= 8 { return bytes.loadUnaligned(as: UInt64.self).bigEndian }
    var head: UInt64 = 0
    for byte in bytes { head = head << 8 | UInt64(byte) }
    return head << (8 * UInt64(8 - bytes.count) & 63) & (bytes.isEmpty ? 0 : .max)
  }
}
