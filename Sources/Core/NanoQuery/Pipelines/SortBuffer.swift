// SPDX-License-Identifier: MIT

import NanoDocument

/// An entry that a ``SortBuffer`` sorts, and that can be written to an external sorter.
protocol SortableEntry {
  var stored: DocumentValue { get }
  init(stored: DocumentValue)
  var approximateBytes: Int { get }
}

/// Sorts entries by key; entries with equal keys keep their order.
///
/// Entries that exceed the memory limit go to an external sorter, if there is one.
final class SortBuffer<Entry: SortableEntry> {
  private var entries: [(key: [UInt8], entry: Entry)] = []
  private var used = 0
  private var sorter: (any ExternalSorter)?
  private let memory: PipelineMemory
  private let check: () throws -> Void
  private let makeSpill: SpillMaker?
  /// The number of entries that are needed, from the first one.
  private let kept: Int?
  /// The number of added entries.
  private(set) var count = 0

  /// The size of an array element with its key.
  private static var overhead: Int { 64 }
  /// The largest number of entries that are kept sorted while others arrive. Arbitrary.
  private static var mostKept: Int { 1_000 }

  init(_ context: PipelineContext, keeping kept: Int? = nil) {
    memory = context.memory
    check = context.check
    makeSpill = context.makeSpill
    self.kept = kept.flatMap { $0 <= Self.mostKept ? $0 : nil }
  }

  func add(_ key: [UInt8], _ entry: Entry) throws(StoreError) {
    count += 1
    if let sorter {
      try write(key, entry, to: sorter)
    } else if let kept {
      try insert(key, entry, keeping: kept)
      // Not earlier: the sorter also receives the entries that are not needed.
      try limit(to: PipelineMemory.maximumBytes)
    } else {
      try charge(key, entry)
      entries.append((key, entry))
      try limit(to: PipelineMemory.spillBytes)
    }
  }

  private static func size(_ key: [UInt8], _ entry: Entry) -> Int {
    key.count + entry.approximateBytes + overhead
  }

  private func charge(_ key: [UInt8], _ entry: Entry) throws(StoreError) {
    let size = Self.size(key, entry)
    used += size
    if makeSpill == nil { try memory.hold(size) }
  }

  private func limit(to bytes: Int) throws(StoreError) {
    if used > bytes, let makeSpill { try spill(to: try makeSpill()) }
  }

  private func insert(
    _ key: [UInt8], _ entry: Entry, keeping kept: Int
  ) throws(StoreError) {
    if entries.count == kept {
      guard let last = entries.last, key.lexicographicallyPrecedes(last.key) else { return }
      let size = Self.size(last.key, last.entry)
      used -= size
      if makeSpill == nil { memory.release(size) }
      entries.removeLast()
    }
    try charge(key, entry)
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if key.lexicographicallyPrecedes(entries[middle].key) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    entries.insert((key, entry), at: low)
  }

  private func spill(to sorter: any ExternalSorter) throws(StoreError) {
    self.sorter = sorter
    for (key, entry) in entries { try write(key, entry, to: sorter) }
    entries = []
    used = 0
  }

  private func write(
    _ key: [UInt8], _ entry: Entry, to sorter: any ExternalSorter
  ) throws(StoreError) {
    var writer = JSONWriter()
    writer.wrappedValue(entry.stored)
    if let failure = writer.failure { throw failure }
    try sorter.add(key, writer.bytes)
  }

  /// Passes the entries to the closure in order until it returns `false`, and forgets them.
  func each(_ visit: (Entry) throws -> Bool) throws {
    if let sorter {
      try sorter.each { _, content in
        try check()
        var reader = JSONReader(content)
        return try visit(Entry(stored: try reader.wrappedValue()))
      }
      self.sorter = nil
      return
    }
    let sorted: [(key: [UInt8], entry: Entry)]
    if kept != nil {
      sorted = entries
    } else {
      sorted = entries.enumerated().sorted { a, b in
        if a.element.key.lexicographicallyPrecedes(b.element.key) { return true }
        return a.offset < b.offset && !b.element.key.lexicographicallyPrecedes(a.element.key)
      }.map(\.element)
    }
    entries = []
    if makeSpill == nil { memory.release(used) }
    used = 0
    for (_, entry) in sorted {
      try check()
      guard try visit(entry) else { return }
    }
  }
}
