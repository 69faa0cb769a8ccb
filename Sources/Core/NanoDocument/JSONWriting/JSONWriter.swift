// SPDX-License-Identifier: MIT

/// Writes documents in their stored form into a buffer that is used again and again.
///
/// It writes what it is told to: braces, commas and colons are the caller's. A value that has no
/// stored form, such as a date in the year 10000, is written as `null` and remembered in
/// ``failure``, so that nothing here throws; look at it before the bytes are used.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.literal(#"{"name":"#)
/// writer.string("Ada")
/// writer.literal(#","born":"#)
/// writer.integer(1815)
/// writer.literal("}")
/// ```
@frozen
public struct JSONWriter: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<UInt8>
  @usableFromInline var capacity: Int

  @usableFromInline var used: Int
  @usableFromInline var firstFailure: StoreError?
  /// How many objects are open, of those that were entered.
  @usableFromInline var depth: Int

  /// Makes room for so many bytes; more are found when needed.
  @inlinable
  package init(capacity: Int = 4096) {
    let room = max(capacity, 64)
    self.base = .allocate(capacity: room)
    self.capacity = room
    self.used = 0
    self.firstFailure = nil
    self.depth = 0
  }

  @inlinable
  deinit { base.deallocate() }

  /// How many bytes were written.
  @inlinable @inline(__always)
  package var count: Int { used }

  /// The first value that could not be written; ``removeAll()`` forgets it.
  @inlinable
  package var failure: StoreError? { firstFailure }

  /// Empties the buffer for the next document. The memory is kept.
  @inlinable @inline(__always)
  package mutating func removeAll() {
    used = 0
    if _slowPath(firstFailure != nil || capacity > Self.maximumKeptCapacity) { reset() }
  }

  /// Room that ``removeAll()`` keeps. Arbitrary: one huge document must not cost memory for ever.
  @usableFromInline static var maximumKeptCapacity: Int { 4 << 20 }

  @usableFromInline @inline(never)
  mutating func reset() {
    firstFailure = nil
    guard capacity > Self.maximumKeptCapacity else { return }
    base.deallocate()
    capacity = 4096
    base = .allocate(capacity: capacity)
  }

  /// What was written, valid until the next call that changes the writer.
  @inlinable @inline(__always)
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: used) }

  /// Lends out what was written.
  @inlinable
  package borrowing func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: base, count: used))
  }

  /// What was written, as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  @inlinable @inline(__always)
  mutating func reserve(_ room: Int) {
    if _slowPath(capacity &- used < room) { grow(room) }
  }

  @usableFromInline @inline(never)
  mutating func grow(_ room: Int) {
    let larger = max(capacity * 2, used + room + 64)
    let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    moved.update(from: base, count: used)
    base.deallocate()
    base = moved
    capacity = larger
  }

  /// Takes back everything written after a position.
  mutating func truncate(to position: Int) { used = position }

  /// Remembers the first value that could not be written, and writes a null in its place.
  package mutating func fail(_ error: @autoclosure () -> StoreError) {
    if firstFailure == nil { firstFailure = error() }
    null()
  }
}

// @unchecked: the buffer belongs to this value alone and moves with it.
extension JSONWriter: @unchecked Sendable {}

extension JSONWriter {
  /// Writes one byte as it is.
  @inlinable @inline(__always)
  package mutating func byte(_ byte: UInt8) {
    reserve(1)
    base[used] = byte
    used &+= 1
  }

  /// Writes text known at compile time as it is: `{"name":` with its punctuation.
  @inlinable @inline(__always)
  public mutating func literal(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    reserve(length)
    (base + used).update(from: text.utf8Start, count: length)
    used &+= length
  }

  /// As ``literal(_:)``, for text that begins with the comma before a field; as the first field of an
  /// object it is written without it.
  @inlinable @inline(__always)
  public mutating func fieldLiteral(_ text: StaticString) {
    guard used > 0, base[used &- 1] == ASCII.openBrace else { return literal(text) }
    let length = text.utf8CodeUnitCount &- 1
    reserve(length)
    (base + used).update(from: text.utf8Start + 1, count: length)
    used &+= length
  }

  /// Notes that a value is written which may hold others of its kind, without end in objects that refer
  /// to each other. If it says no, nothing is to be written, and there is a ``failure``; else
  /// ``leave()`` belongs to it.
  ///
  /// Call it for each object and each array that is open in the text.
  @inlinable @inline(__always)
  public mutating func enter() -> Bool {
    if _slowPath(depth >= Self.maximumEntered || firstFailure != nil) {
      failDepth()
      return false
    }
    depth &+= 1
    return true
  }

  /// What is written in the innermost value may be one of the forms that are objects, of two levels at most.
  @usableFromInline static var maximumEntered: Int { DocumentValue.maximumDepth - 2 }

  /// Notes that the value has been written.
  @inlinable @inline(__always)
  public mutating func leave() { depth &-= 1 }

  /// Writes bytes as they are; they must be JSON in stored form.
  @inlinable
  package mutating func raw(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(base + count).copyMemory(from: source, byteCount: bytes.count)
    used &+= bytes.count
  }

  /// Writes `true` or `false`.
  @inlinable @inline(__always)
  package mutating func bool(_ value: Bool) { value ? literal("true") : literal("false") }

  /// Writes `null`.
  @inlinable @inline(__always)
  package mutating func null() { literal("null") }

  /// Writes an array, each element by the closure.
  ///
  /// ```swift
  /// writer.array(person.emails) { $0.string($1) }
  /// ```
  @inlinable @inline(__always)
  package mutating func array<Element>(
    _ elements: [Element], _ write: (inout JSONWriter, borrowing Element) -> Void
  ) {
    byte(ASCII.openBracket)
    elements.withUnsafeBufferPointer { elements in
      var index = 0
      while index < elements.count {
        if index > 0 { byte(ASCII.comma) }
        write(&self, elements[index])
        index &+= 1
      }
    }
    byte(ASCII.closeBracket)
  }
}
