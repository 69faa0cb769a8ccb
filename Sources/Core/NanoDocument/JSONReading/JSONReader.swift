// SPDX-License-Identifier: MIT

/// A cursor over the bytes of a stored document. The bytes are borrowed and must outlive the reader.
///
/// The reader is optimized for documents that ``JSONWriter`` wrote and validates only what it must: it
/// never reads out of bounds and never crashes on damaged bytes, but it does not detect every error in
/// a value that it skips. Parse external text with ``DocumentValue/init(json:dialect:)-(String,_)``,
/// which validates all of it. ``DocumentRepresentable`` has an example.
///
/// A copy saves the position; assign it back to return there. After an error, the position is
/// unspecified.
@frozen
public struct JSONReader {
  @usableFromInline let start: UnsafePointer<UInt8>
  @usableFromInline let end: UnsafePointer<UInt8>
  @usableFromInline var cursor: UnsafePointer<UInt8>
  /// The number of open values that were entered with ``enter()``.
  @usableFromInline var depth = 0
  /// Whether the fields of values that contain others are searched by name at once. Set by generated code when such a
  /// value was not in the order of declaration: reading each level of nesting twice would take exponential time.
  public var readsByName = false

  /// Creates a reader positioned at the first byte.
  @inlinable @inline(__always)
  package init(_ bytes: UnsafeRawBufferPointer) {
    if let base = bytes.baseAddress {
      start = base.assumingMemoryBound(to: UInt8.self)
    } else {
      start = UnsafePointer(bitPattern: 8).unsafelyUnwrapped  // never read: `end` is equal
    }
    end = start + bytes.count
    cursor = start
  }

  @inlinable @inline(__always)
  init(start: UnsafePointer<UInt8>, cursor: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
    self.start = start
    self.cursor = cursor
    self.end = end
  }

  /// The cursor's offset from the start, in bytes.
  @inlinable package var offset: Int { cursor - start }

  /// Whether only whitespace remains.
  @inlinable package var isAtEnd: Bool {
    var rest = self
    rest.skipWhitespace()
    return rest.cursor >= end
  }

  /// The byte at the cursor, or `nil` at the end.
  @inlinable @inline(__always)
  package var next: UInt8? { cursor < end ? cursor.pointee : nil }

  /// Skips whitespace, which only other programs write.
  @inlinable @inline(__always)
  package mutating func skipWhitespace() {
    while cursor < end, cursor.pointee <= ASCII.space { cursor += 1 }
  }

  /// Consumes predicted text such as `,"born":` if it is exactly at the cursor; returns whether it was.
  /// Whitespace is not skipped; canonical documents contain none.
  @inlinable @inline(__always)
  public mutating func match(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard end - cursor >= length, equalBytes(cursor, text.utf8Start, length) else { return false }
    cursor += length
    return true
  }

  /// Consumes predicted text that begins with a field's comma; see ``match(_:)``. For the first field
  /// of an object, the comma is omitted.
  @inlinable @inline(__always)
  public mutating func matchField(_ text: StaticString) -> Bool {
    guard cursor > start, cursor[-1] == ASCII.openBrace else { return match(text) }
    let length = text.utf8CodeUnitCount - 1
    guard end - cursor >= length, equalBytes(cursor, text.utf8Start + 1, length) else {
      return false
    }
    cursor += length
    return true
  }

  /// Marks the start of a value that can contain values of its own type, to limit the nesting of
  /// malicious documents. Balance each call with ``leave()``.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if the nesting is too deep.
  @inlinable @inline(__always)
  public mutating func enter() throws(StoreError) {
    depth &+= 1
    if _slowPath(depth > DocumentValue.maximumDepth) { throw Self.tooDeep(at: offset) }
  }

  /// Marks the end of a value that was entered with ``enter()``.
  @inlinable @inline(__always)
  public mutating func leave() { depth &-= 1 }

  /// Skips whitespace, then consumes the byte if it is next; returns whether it was.
  @inlinable @inline(__always)
  package mutating func peekConsume(_ byte: UInt8) -> Bool {
    guard cursor < end else { return false }
    if cursor.pointee != byte {
      guard _slowPath(cursor.pointee <= ASCII.space) else { return false }
      skipWhitespace()
      guard cursor < end, cursor.pointee == byte else { return false }
    }
    cursor += 1
    return true
  }

  /// Skips whitespace, then consumes a required byte.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  @inlinable @inline(__always)
  package mutating func expect(_ byte: UInt8) throws(StoreError) {
    if _slowPath(!peekConsume(byte)) { throw unexpected(byte) }
  }

  /// Reads a Boolean value.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  @inlinable
  public mutating func bool() throws(StoreError) -> Bool {
    skipWhitespace()
    if match("true") { return true }
    if match("false") { return false }
    throw mismatch("true or false")
  }

  /// Consumes a `null` if it is next; returns whether it was.
  @inlinable
  public mutating func consumeNull() -> Bool {
    skipWhitespace()
    return match("null")
  }

  /// Whether the next value is `null`. Consumes nothing.
  @inlinable
  package var isNull: Bool {
    var rest = self
    return rest.consumeNull()
  }

  /// Reads an array, calling the closure for each element.
  ///
  /// ```swift
  /// emails = try reader.array { (r: inout JSONReader) throws(StoreError) in try r.string() }
  /// ```
  @inlinable @inline(__always)
  public mutating func array<Element>(
    _ read: (inout JSONReader) throws(StoreError) -> Element
  ) throws(StoreError) -> [Element] {
    if _slowPath(!peekConsume(ASCII.openBracket)) { throw mismatch("an array") }
    var elements: [Element] = []
    if peekConsume(ASCII.closeBracket) { return elements }
    // Growing from a capacity of one would allocate twice for two elements.
    elements.reserveCapacity(2)
    repeat {
      elements.append(try read(&self))
    } while peekConsume(ASCII.comma)
    try expect(ASCII.closeBracket)
    return elements
  }

  /// Reads an object's fields in order. The closure must read or skip each value.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``, or the
  ///   closure's error.
  @inlinable @inline(__always)
  public mutating func fields(
    _ read: (inout JSONReader, Name) throws(StoreError) -> Void
  ) throws(StoreError) {
    if _slowPath(!peekConsume(ASCII.openBrace)) { throw mismatch("an object") }
    if peekConsume(ASCII.closeBrace) { return }
    repeat {
      let name = try rawName()
      try read(&self, name)
    } while peekConsume(ASCII.comma)
    try expect(ASCII.closeBrace)
  }
}
