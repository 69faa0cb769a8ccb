// SPDX-License-Identifier: MIT

import Foundation

/// The live objects of a class by row ID, held weakly: an object removes itself when it is
/// deallocated.
///
/// A hash table with open addressing and linear probing. Row IDs are mostly consecutive, as in a
/// list or a whole class; the identity hash keeps their slots consecutive too, which is
/// cache-friendly. If this leads to clustering, as with ids that are multiples of a power of two,
/// groups of four ids are scattered instead.
@usableFromInline
struct IdentityMap: ~Copyable {
  @usableFromInline
  struct Entry {
    /// 0 in an empty slot; no row has this id.
    @usableFromInline var rowID: Int64
    @usableFromInline var object: UnsafeRawPointer?

    @inlinable
    init(rowID: Int64, object: UnsafeRawPointer?) {
      self.rowID = rowID
      self.object = object
    }
  }

  @usableFromInline var entries: UnsafeMutablePointer<Entry>
  @usableFromInline var capacity: Int
  @usableFromInline var count = 0
  @usableFromInline var isScattered = false

  @usableFromInline
  init() {
    capacity = 16
    entries = Self.allocate(16)
  }

  // Inlinable, since the optimizer otherwise stops at a table's setter, which inlines it.
  @inlinable
  deinit { Self.deallocate(entries) }

  /// Returns empty slots, whose bytes are all zero.
  ///
  /// The system provides pages of a large zeroed allocation on first access. As consecutive row IDs
  /// have consecutive slots, most pages of free slots are never accessed and take no memory.
  @usableFromInline
  static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
    guard let zeroed = calloc(capacity, MemoryLayout<Entry>.stride) else {
      fatalError("Out of memory for \(capacity) objects")
    }
    return zeroed.bindMemory(to: Entry.self, capacity: capacity)
  }

  @usableFromInline
  static func deallocate(_ entries: UnsafeMutablePointer<Entry>) { free(entries) }

  /// Returns the first slot to probe. The factor is that of Fibonacci hashing: 2^64 divided by the
  /// golden ratio.
  @inlinable @inline(__always)
  func home(_ rowID: Int64) -> Int {
    let id = UInt64(bitPattern: rowID)
    guard _slowPath(isScattered) else { return Int(truncatingIfNeeded: id) & (capacity - 1) }
    let group = (id >> 2) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (group >> 32) << 2 | id & 3) & (capacity - 1)
  }

  @inlinable @inline(__always)
  subscript(rowID: Int64) -> UnsafeRawPointer? {
    var index = home(rowID)
    while true {
      let entry = entries[index]
      if entry.rowID == rowID { return entry.object }
      if entry.rowID == 0 { return nil }
      index = (index + 1) & (capacity - 1)
    }
  }

  /// Inserts an object, whose id must not be in the map.
  @inlinable @inline(__always)
  mutating func insert(_ rowID: Int64, _ object: UnsafeRawPointer) {
    // A load factor of at most 3/4.
    if _slowPath((count + 1) * 4 > capacity * 3) { grow() }
    let steps = insertEntry(Entry(rowID: rowID, object: object))
    count += 1
    if _slowPath(steps > Self.maximumProbeDistance), !isScattered { scatter() }
  }

  /// Arbitrary: unlikely in a well-distributed table, and not yet slow.
  @usableFromInline static var maximumProbeDistance: Int { 64 }

  /// Inserts an entry. An entry with a longer probe distance displaces one with a shorter distance
  /// (Robin Hood hashing, Celis 1986), so that entries are sorted by their home slots and a gap can
  /// be closed by shifting the entries after it.
  ///
  /// - Returns: The longest probe distance of a moved entry.
  @inlinable @inline(__always)
  @discardableResult
  func insertEntry(_ new: Entry) -> Int {
    var entry = new
    var index = home(entry.rowID)
    var distance = 0
    var farthest = 0
    while entries[index].rowID != 0 {
      let other = self.distance(at: index)
      if other < distance {
        swap(&entries[index], &entry)
        farthest = max(farthest, distance)
        distance = other
      }
      index = (index + 1) & (capacity - 1)
      distance += 1
    }
    entries[index] = entry
    return max(farthest, distance)
  }

  /// Returns the distance of an entry from its home slot.
  @inlinable @inline(__always)
  func distance(at index: Int) -> Int { (index - home(entries[index].rowID)) & (capacity - 1) }

  @usableFromInline @inline(never)
  mutating func grow() { rebuild(capacity * 2) }

  @usableFromInline @inline(never)
  mutating func scatter() {
    isScattered = true
    rebuild(capacity)
  }

  private mutating func rebuild(_ newCapacity: Int) {
    let former = entries
    let old = UnsafeMutableBufferPointer(start: former, count: capacity)
    capacity = newCapacity
    entries = Self.allocate(newCapacity)
    for entry in old where entry.rowID != 0 { insertEntry(entry) }
    Self.deallocate(former)
  }

  /// Removes an object. The entries after it that are not in their home slots move back by one.
  @usableFromInline
  mutating func remove(_ rowID: Int64) {
    var gap = home(rowID)
    while entries[gap].rowID != rowID {
      if entries[gap].rowID == 0 { return }
      gap = (gap + 1) & (capacity - 1)
    }
    count -= 1
    var next = (gap + 1) & (capacity - 1)
    while entries[next].rowID != 0, distance(at: next) != 0 {
      entries[gap] = entries[next]
      gap = next
      next = (next + 1) & (capacity - 1)
    }
    entries[gap] = Entry(rowID: 0, object: nil)
  }

  /// Returns all row IDs, unordered.
  func rowIDs() -> [Int64] {
    (0..<capacity).compactMap { entries[$0].rowID == 0 ? nil : entries[$0].rowID }
  }

  mutating func removeAll() {
    self = IdentityMap()
  }
}
