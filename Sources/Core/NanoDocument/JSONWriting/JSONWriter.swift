// SPDX-License-Identifier: MIT

/// Writes documents in their stored form into a reusable buffer.
///
/// The writer does not add punctuation: braces, commas and colons are the caller's responsibility. A
/// value without a stored form, such as a date in the year 10000, is written as `null` and recorded as
/// a failure, so that no method throws. The call that saves the document throws the failure.
///
/// ```swift
/// func write(to writer: inout JSONWriter) {
///   writer.literal(#"{"name":"#)
///   writer.string(name)
///   writer.literal(#","born":"#)
///   writer.integer(born)
///   writer.literal("}")
/// }
/// ```
@frozen
public struct JSONWriter: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<UInt8>
  @usableFromInline var capacity: Int

  @usableFromInline var used: Int
  @usableFromInline var firstFailure: StoreError?
  /// The number of open values that were entered with ``enter()``.
  @usableFromInline var depth: Int

  /// Creates a writer with an initial capacity in bytes. The buffer grows as needed.
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

  /// The number of bytes written.
  @inlinable @inline(__always)
  package var count: Int { used }

  /// The first value that could not be written. ``removeAll()`` resets it.
  @inlinable
  package var failure: StoreError? { firstFailure }

  /// Empties the buffer for the next document, keeping its memory.
  @inlinable @inline(__always)
  package mutating func removeAll() {
    used = 0
    if _slowPath(firstFailure != nil || capacity > Self.maximumKeptCapacity) { reset() }
  }

  /// The largest buffer that ``removeAll()`` keeps, so that one huge document does not hold memory
  /// forever. The number is arbitrary.
  @usableFromInline static var maximumKeptCapacity: Int { 4 << 20 }

  @usableFromInline @inline(never)
  mutating func reset() {
    firstFailure = nil
    guard capacity > Self.maximumKeptCapacity else { return }
    base.deallocate()
    capacity = 4096
    base = .allocate(capacity: capacity)
  }

  /// The bytes written, valid until the writer is next changed.
  @inlinable @inline(__always)
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: used) }

  /// Calls the closure with the bytes written.
  @inlinable
  package borrowing func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: base, count: used))
  }

  /// The bytes written, as a string.
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

  /// Removes everything written after a position, which was ``count`` at an earlier time.
  package mutating func truncate(to position: Int) { used = position }

  /// Records the first value that could not be written, and writes `null` instead.
  package mutating func fail(_ error: @autoclosure () -> StoreError) {
    if firstFailure == nil { firstFailure = error() }
    null()
  }
}

// @unchecked: the buffer belongs to this value alone and moves with it.
extension JSONWriter: @unchecked Sendable {}

extension JSONWriter {
  /// Writes one byte.
  @inlinable @inline(__always)
  package mutating func byte(_ byte: UInt8) {
    reserve(1)
    base[used] = byte
    used &+= 1
  }

  /// Writes a compile-time constant verbatim, such as `{"name":`, with its punctuation.
  @inlinable @inline(__always)
  public mutating func literal(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    reserve(length)
    (base + used).update(from: text.utf8Start, count: length)
    used &+= length
  }

  /// Writes a compile-time constant that begins with a field's comma; see ``literal(_:)``. For the
  /// first field of an object, the comma is omitted.
  @inlinable @inline(__always)
  public mutating func fieldLiteral(_ text: StaticString) {
    guard used > 0, base[used &- 1] == ASCII.openBrace else { return literal(text) }
    let length = text.utf8CodeUnitCount &- 1
    reserve(length)
    (base + used).update(from: text.utf8Start + 1, count: length)
    used &+= length
  }

  /// Marks the start of a value that can contain values of its own type, to stop at reference cycles.
  /// If the result is `false`, the nesting is too deep or an earlier value failed: write nothing;
  /// a failure is recorded. Otherwise, balance the call with ``leave()``.
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

  /// The innermost value may be a stored form that is an object of up to two levels.
  @usableFromInline static var maximumEntered: Int { DocumentValue.maximumDepth - 2 }

  /// Marks the end of a value that was entered with ``enter()``.
  @inlinable @inline(__always)
  public mutating func leave() { depth &-= 1 }

  /// Writes bytes verbatim. They must be JSON in stored form.
  @inlinable
  package mutating func raw(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(base + count).copyMemory(from: source, byteCount: bytes.count)
    used &+= bytes.count
  }

  /// Writes `true` or `false`.
  @inlinable @inline(__always)
  public mutating func bool(_ value: Bool) { value ? literal("true") : literal("false") }

  /// Writes `null`.
  @inlinable @inline(__always)
  public mutating func null() { literal("null") }

  /// Writes an array, calling the closure for each element.
  ///
  /// ```swift
  /// writer.array(person.emails) { $0.string($1) }
  /// ```
  @inlinable @inline(__always)
  public mutating func array<Element>(
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
