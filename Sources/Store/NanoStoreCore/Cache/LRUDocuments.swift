// SPDX-License-Identifier: MIT

import NanoDocument

/// Documents by row ID, in least recently used order.
///
/// An open-addressing hash table of slot numbers; the slots form a doubly linked list from the most
/// to the least recently used. A dictionary with a separate list takes three times as long for a
/// query with many results.
struct LRUDocuments {
  private struct Slot {
    var rowID: Int64
    /// Nil while the slot is free.
    var document: Document?
    var content: CachedContent
    /// Slot numbers of the neighbors; ``none`` at the ends.
    var newer: Int32
    var older: Int32
  }
  private var slots: [Slot] = []
  private var free: [Int32] = []
  private var newest = Self.none
  private var oldest = Self.none
  /// Slot numbers, at most half of it in use.
  private var table = [Int32](repeating: Self.none, count: 32)
  private(set) var count = 0

  private static let none: Int32 = -1

  /// The index at which the probe sequence of a row starts. Sixteen consecutive row IDs share a
  /// cache line; blocks of sixteen are hashed, so that the ids of every thousandth row do not
  /// collide.
  @inline(__always)
  private func home(_ rowID: Int64) -> Int {
    let bits = UInt64(bitPattern: rowID)
    let line = (bits >> 4) &* 0x9E37_79B9_7F4A_7C15
    let shift = UInt64(64 - (table.count >> 4).trailingZeroBitCount)
    return Int((shift == 64 ? 0 : line >> shift) << 4 | bits & 15)
  }

  /// Returns the table index of a row, or the one where it would be inserted.
  @inline(__always)
  private func tableIndex(of rowID: Int64) -> Int {
    let mask = table.count - 1
    var tableIndex = home(rowID)
    while table[tableIndex] != Self.none, slots[Int(table[tableIndex])].rowID != rowID {
      tableIndex = (tableIndex + 1) & mask
    }
    return tableIndex
  }

  /// Returns the document of a row if the closure accepts its content, and marks it as the most
  /// recently used.
  @inline(__always)
  mutating func use(_ rowID: Int64, where isAccepted: (inout CachedContent) -> Bool) -> Document? {
    let number = table[tableIndex(of: rowID)]
    guard number != Self.none, isAccepted(&slots[Int(number)].content) else { return nil }
    if number != newest {
      unlink(number)
      linkNewest(number)
    }
    return slots[Int(number)].document
  }

  func content(of rowID: Int64) -> (document: Document, content: CachedContent)? {
    let number = table[tableIndex(of: rowID)]
    guard number != Self.none, let document = slots[Int(number)].document else { return nil }
    return (document, slots[Int(number)].content)
  }

  /// Inserts a document for a row that has none, as the most recently used.
  mutating func insert(_ document: Document, _ rowID: Int64, _ content: CachedContent) {
    if (count + 1) * 2 > table.count { grow() }
    let slot = Slot(
      rowID: rowID, document: document, content: content, newer: Self.none, older: Self.none)
    let number: Int32
    if let reused = free.popLast() {
      number = reused
      slots[Int(number)] = slot
    } else {
      number = Int32(slots.count)
      slots.append(slot)
    }
    table[tableIndex(of: rowID)] = number
    linkNewest(number)
    count += 1
  }

  /// Removes the least recently used document.
  mutating func removeOldest() -> (document: Document, rowID: Int64, content: CachedContent)? {
    guard oldest != Self.none else { return nil }
    let slot = slots[Int(oldest)]
    return remove(slot.rowID).map { ($0.document, slot.rowID, $0.content) }
  }

  @discardableResult
  mutating func remove(_ rowID: Int64) -> (document: Document, content: CachedContent)? {
    let tableIndex = tableIndex(of: rowID)
    let number = table[tableIndex]
    guard number != Self.none, let document = slots[Int(number)].document else { return nil }
    let content = slots[Int(number)].content
    unlink(number)
    slots[Int(number)].document = nil
    free.append(number)
    close(tableIndex)
    count -= 1
    return (document, content)
  }

  mutating func removeAll() { self = LRUDocuments() }
}

extension LRUDocuments {
  private mutating func unlink(_ number: Int32) {
    let (newer, older) = (slots[Int(number)].newer, slots[Int(number)].older)
    if newer == Self.none { newest = older } else { slots[Int(newer)].older = older }
    if older == Self.none { oldest = newer } else { slots[Int(older)].newer = newer }
  }

  private mutating func linkNewest(_ number: Int32) {
    slots[Int(number)].newer = Self.none
    slots[Int(number)].older = newest
    if newest == Self.none { oldest = number } else { slots[Int(newest)].newer = number }
    newest = number
  }

  private mutating func grow() {
    let numbers = table.filter { $0 != Self.none }
    table = [Int32](repeating: Self.none, count: table.count * 2)
    for number in numbers { table[tableIndex(of: slots[Int(number)].rowID)] = number }
  }

  /// Empties a table entry, and moves later entries that could no longer be found.
  private mutating func close(_ emptied: Int) {
    let mask = table.count - 1
    var hole = emptied
    var next = (hole + 1) & mask
    while table[next] != Self.none {
      let homeIndex = home(slots[Int(table[next])].rowID)
      // Whether the hole lies between the home of the entry and its current index.
      if (next - homeIndex) & mask >= (next - hole) & mask {
        table[hole] = table[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    table[hole] = Self.none
  }
}
