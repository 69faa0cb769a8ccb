// SPDX-License-Identifier: MIT

/// The live objects of one class by row id, without keeping them alive: an object takes itself out when it
/// goes.
///
/// Open addressing with linear probing. Ids mostly follow each other, as those of a list or of a whole class do,
/// and so do their places, which keeps them in the processor's cache. Where that makes them collide, as with ids
/// that are multiples of a power of two, groups of four are scattered instead.
@usableFromInline
struct IdentityMap: ~Copyable {
  @usableFromInline
  struct Entry {
    /// 0 where nothing is kept; no row has it.
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

  // Inlinable, since the optimizer stops at a table's setter otherwise, which inlines it.
  @inlinable
  deinit { entries.deallocate() }

  @usableFromInline
  static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
    entries.initialize(repeating: Entry(rowID: 0, object: nil), count: capacity)
    return entries
  }

  /// Where the id is looked for first. The factor is that of Fibonacci hashing: 2^64 over the golden ratio.
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

  /// The id must not be there yet.
  @inlinable @inline(__always)
  mutating func insert(_ rowID: Int64, _ object: UnsafeRawPointer) {
    // Three quarters full at most.
    if _slowPath((count + 1) * 4 > capacity * 3) { grow() }
    let steps = place(Entry(rowID: rowID, object: object))
    count += 1
    if _slowPath(steps > Self.manySteps), !isScattered { scatter() }
  }

  /// Arbitrary: rarely seen by chance, and not yet slow.
  @usableFromInline static var manySteps: Int { 64 }

  /// Puts an entry where it is found. Who has come far takes the place of one that is nearer to its home (Robin
  /// Hood hashing, Celis 1986), so that entries stand in the order of their homes and a gap is closed by those
  /// right behind it.
  ///
  /// - Returns: How far from its home the farthest one came to stand.
  @inlinable @inline(__always)
  @discardableResult
  func place(_ new: Entry) -> Int {
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

  /// How far from its home an entry stands.
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
    let old = UnsafeMutableBufferPointer(start: entries, count: capacity)
    capacity = newCapacity
    entries = Self.allocate(newCapacity)
    for entry in old where entry.rowID != 0 { place(entry) }
    old.deallocate()
  }

  /// Those behind it that stand away from their homes come one place nearer.
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

  /// The ids that are there, in no order.
  func rowIDs() -> [Int64] {
    (0..<capacity).compactMap { entries[$0].rowID == 0 ? nil : entries[$0].rowID }
  }

  mutating func removeAll() {
    entries.update(repeating: Entry(rowID: 0, object: nil), count: capacity)
    count = 0
  }
}
