// SPDX-License-Identifier: MIT

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension WildcardIndexBuffer {
  /// The net effect of all changes of one indexed value.
  package enum Change { case insert, remove }

  /// Passes the pending changes to a closure, attribute by attribute, in the order of the table. The bytes of
  /// the entries stay valid until all entries are removed.
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

  /// Only the last of several changes of a value counts. A value that is removed and added again, because a
  /// document was saved with the same value, is already in the table.
  private func drain(
    _ entries: UnsafeBufferPointer<Entry>, _ change: (Change, Entry) throws -> Void
  ) rethrows {
    let order = Order(arena: UnsafeRawPointer(arena))
    var first = 0
    while first < entries.count {
      var last = first
      while last + 1 < entries.count, order.isSameValue(entries[first], entries[last + 1]) {
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

/// The sort order of entries with the same attribute, approximately that of the database, which is sufficient.
///
/// Entries of one value are adjacent, the earlier change first.
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
      // Numbers with the same approximation can be in any order.
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
  func isSameValue(_ a: WildcardIndexBuffer.Entry, _ b: WildcardIndexBuffer.Entry) -> Bool {
    guard a.id == b.id, a.head == b.head, a.kind == b.kind else { return false }
    return a.isBytes ? compareBytes(a, b) == 0 : a.payload == b.payload
  }
}

extension WildcardIndexBuffer.Entry {
  fileprivate var isBytes: Bool { kind == .text || kind == .blob }
}
