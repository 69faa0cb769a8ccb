// SPDX-License-Identifier: MIT

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension WildcardIndexBuffer {
  /// Whether an insertion or a removal is what remains of all changes of a leaf.
  package enum Change { case insert, remove }

  /// Shows what is to be done, attribute by attribute, in the order of the table. What entries
  /// point to stays until all are removed.
  package func drain(_ change: (Change, Entry) throws -> Void) rethrows {
    for attribute in 0..<attributes {
      try withBucket(attribute) { entries in
        if entries.count > 1 { sort(entries) }
        try drain(UnsafeBufferPointer(entries), change)
      }
    }
  }

  private func sort(_ entries: UnsafeMutableBufferPointer<Entry>) {
    let order = Order(arena: UnsafeRawPointer(arena))
    var entries = entries
    entries.sort(by: order.precedes)
  }

  /// Of several changes of one leaf the last one counts. A leaf that is removed and added again,
  /// because a document was saved with the same value, stands in the table already.
  private func drain(
    _ entries: UnsafeBufferPointer<Entry>, _ change: (Change, Entry) throws -> Void
  ) rethrows {
    let order = Order(arena: UnsafeRawPointer(arena))
    var first = 0
    while first < entries.count {
      var last = first
      while last + 1 < entries.count, order.isSameLeaf(entries[first], entries[last + 1]) {
        last += 1
      }
      if entries[last].isRemoval {
        try change(.remove, entries[last])
      } else if !entries[first].isRemoval {
        try change(.insert, entries[last])
      }
      first = last + 1
    }
  }
}

/// How entries of one attribute follow each other: nearly as in the database, which is near enough.
/// Entries of one leaf stand together, the earlier one first.
private struct Order {
  let arena: UnsafeRawPointer

  @inline(__always)
  func precedes(_ a: WildcardIndexBuffer.Entry, _ b: WildcardIndexBuffer.Entry) -> Bool {
    if a.head != b.head, a.isBytes == b.isBytes, a.kind != .blob, b.kind != .blob {
      return a.head < b.head
    }
    return precedesSlowly(a, b)
  }

  private func precedesSlowly(_ a: WildcardIndexBuffer.Entry, _ b: WildcardIndexBuffer.Entry)
    -> Bool
  {
    if a.isBytes != b.isBytes { return b.isBytes }
    if a.isBytes {
      if a.kind != b.kind { return a.kind == .text }
      let order = compareBytes(a, b)
      if order != 0 { return order < 0 }
    } else {
      if a.head != b.head { return a.head < b.head }
      // Of numbers that are near each other any order will do.
      if a.kind != b.kind { return a.kind == .int }
      if a.payload != b.payload {
        return Int64(bitPattern: a.payload) < Int64(bitPattern: b.payload)
      }
    }
    return a.id != b.id ? a.id < b.id : a.sequence < b.sequence
  }

  @inline(__always)
  private func compareBytes(_ a: WildcardIndexBuffer.Entry, _ b: WildcardIndexBuffer.Entry) -> Int {
    let shared = Int(min(a.length, b.length))
    let order = memcmp(arena + Int(a.payload), arena + Int(b.payload), shared)
    return order != 0 ? Int(order) : Int(a.length) - Int(b.length)
  }

  @inline(__always)
  func isSameLeaf(_ a: WildcardIndexBuffer.Entry, _ b: WildcardIndexBuffer.Entry) -> Bool {
    guard a.id == b.id, a.head == b.head, a.kind == b.kind else { return false }
    return a.isBytes ? compareBytes(a, b) == 0 : a.payload == b.payload
  }
}

extension WildcardIndexBuffer.Entry {
  fileprivate var isBytes: Bool { kind == .text || kind == .blob }
}
