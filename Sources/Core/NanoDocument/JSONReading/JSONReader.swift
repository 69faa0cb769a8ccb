// SPDX-License-Identifier: MIT

/// A cursor over the bytes of a stored document, which it borrows: they must outlive it.
///
/// It is made for documents that ``JSONWriter`` wrote, and is quick because it checks no more than
/// it must: it never reads outside the bytes and never crashes on damaged ones, but it does not
/// find every fault in a value that it skips. Text from outside goes through
/// ``DocumentValue/init(json:dialect:)``, which does.
///
/// ```swift
/// var reader = JSONReader(bytes)
/// if try reader.findField(StoredName("born")) {
///   year = try reader.integer()
/// }
/// ```
///
/// A copy remembers the place: assign it back to return there. After an error the place is
/// unspecified.
@frozen
public struct JSONReader {
  @usableFromInline let start: UnsafePointer<UInt8>
  @usableFromInline let end: UnsafePointer<UInt8>
  @usableFromInline var cursor: UnsafePointer<UInt8>
  /// How many objects are open, of those that were entered.
  @usableFromInline var depth = 0

  /// Stands before the first byte.
  @inlinable @inline(__always)
  package init(_ bytes: UnsafeRawBufferPointer) {
    if let base = bytes.baseAddress {
      start = base.assumingMemoryBound(to: UInt8.self)
    } else {
      start = UnsafePointer(bitPattern: 8).unsafelyUnwrapped  // never read: the end is here too
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

  /// How many bytes are behind the cursor.
  @inlinable package var offset: Int { cursor - start }

  /// Whether nothing but white space is left.
  @inlinable package var isAtEnd: Bool {
    var rest = self
    rest.skipWhitespace()
    return rest.cursor >= end
  }

  /// The byte at the cursor, nil at the end.
  @inlinable @inline(__always)
  package var next: UInt8? { cursor < end ? cursor.pointee : nil }

  /// Goes over white space, which only other programs write.
  @inlinable @inline(__always)
  package mutating func skipWhitespace() {
    while cursor < end, cursor.pointee <= ASCII.space { cursor += 1 }
  }

  /// Consumes predicted text such as `,"born":` and says whether it stood exactly here. White
  /// space is not skipped; a canonical document has none.
  @inlinable @inline(__always)
  public mutating func match(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard end - cursor >= length, equalBytes(cursor, text.utf8Start, length) else { return false }
    cursor += length
    return true
  }

  /// As ``match(_:)``, for text that begins with the comma before a field; as the first field of an
  /// object it stands without it.
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

  /// Notes that a value is read which may hold others of its kind, without end in a document that is
  /// meant to do harm. ``leave()`` belongs to it.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if too many are open.
  @inlinable @inline(__always)
  public mutating func enter() throws(StoreError) {
    depth &+= 1
    if _slowPath(depth > DocumentValue.maximumDepth) { throw Self.tooDeep(at: offset) }
  }

  /// Notes that the value has been read.
  @inlinable @inline(__always)
  public mutating func leave() { depth &-= 1 }

  /// Skips white space, then consumes a byte if it stands there.
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

  /// Skips white space, then consumes a byte that must stand there.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  @inlinable @inline(__always)
  package mutating func expect(_ byte: UInt8) throws(StoreError) {
    if _slowPath(!peekConsume(byte)) { throw unexpected(byte) }
  }

  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  @inlinable
  package mutating func bool() throws(StoreError) -> Bool {
    skipWhitespace()
    if match("true") { return true }
    if match("false") { return false }
    throw mismatch("true or false")
  }

  /// Consumes a null and says whether there was one.
  @inlinable
  public mutating func consumeNull() -> Bool {
    skipWhitespace()
    return match("null")
  }

  /// Whether the next value is null; it stays there.
  @inlinable
  package var isNull: Bool {
    var rest = self
    return rest.consumeNull()
  }

  /// Reads an array, each element by the closure.
  ///
  /// ```swift
  /// emails = try reader.array { (r: inout JSONReader) throws(StoreError) in try r.string() }
  /// ```
  @inlinable @inline(__always)
  package mutating func array<Element>(
    _ read: (inout JSONReader) throws(StoreError) -> Element
  ) throws(StoreError) -> [Element] {
    if _slowPath(!peekConsume(ASCII.openBracket)) { throw mismatch("an array") }
    var elements: [Element] = []
    if peekConsume(ASCII.closeBracket) { return elements }
    // Grown from room for one, a list of two would be allocated twice.
    elements.reserveCapacity(2)
    repeat {
      elements.append(try read(&self))
    } while peekConsume(ASCII.comma)
    try expect(ASCII.closeBracket)
    return elements
  }

  /// Reads an object's fields in their order; the closure must read or skip the value of each.
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
