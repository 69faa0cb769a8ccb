// SPDX-License-Identifier: MIT

extension JSONReader {
  /// The kind of a value, determined by its first byte.
  @frozen
  @usableFromInline package enum Kind: Sendable {
    case null, bool, number, string, array
    /// An object, or the stored form of a type that JSON lacks; see ``JSONReader/isStoredForm``.
    case object
    /// Not the start of a value.
    case none
  }

  /// Returns the kind of the next value, skipping whitespace before it.
  @inlinable @inline(__always)
  package mutating func kind() -> Kind {
    skipWhitespace()
    guard cursor < end else { return .none }
    switch cursor.pointee {
    case ASCII.quote: return .string
    case ASCII.minus, 0x30...0x39: return .number
    case ASCII.openBrace: return .object
    case ASCII.openBracket: return .array
    case 0x74, 0x66: return .bool
    case 0x6E: return .null
    default: return .none
    }
  }

  /// Whether the current object begins with a name of exactly one `$`, so that it may be the stored
  /// form of a date or another type that JSON lacks.
  @inlinable @inline(__always)
  package var isStoredForm: Bool {
    var ahead = self
    guard ahead.peekConsume(ASCII.openBrace), ahead.peekConsume(ASCII.quote),
      ahead.cursor + 1 < end
    else { return false }
    if _slowPath(ahead.cursor[0] == ASCII.backslash) { return ahead.isReservedNameAhead }
    return ahead.cursor[0] == ASCII.dollar && ahead.cursor[1] != ASCII.dollar
  }

  /// Whether the escaped name at the cursor begins with exactly one `$`.
  @usableFromInline @inline(never)
  var isReservedNameAhead: Bool {
    var ahead = self
    guard let isEscaped = try? ahead.finishString() else { return false }
    let bytes = UnsafeRawBufferPointer(start: cursor, count: ahead.cursor - cursor - 1)
    return Name(bytes, isEscaped: isEscaped).isReserved
  }

  /// Advances by a number of bytes, at most to the end.
  @inlinable @inline(__always)
  package mutating func skip(_ count: Int) { cursor += min(count, end - cursor) }

  /// Consumes the bytes if they are next; returns whether they were.
  @inlinable @inline(__always)
  package mutating func match(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard end - cursor >= bytes.count, let expected = bytes.baseAddress,
      equalBytes(cursor, expected.assumingMemoryBound(to: UInt8.self), bytes.count)
    else { return false }
    cursor += bytes.count
    return true
  }

  /// Skips a number. Returns whether it is a double, and its length in bytes.
  @inlinable @inline(__always)
  package mutating func skipNumber() -> (isDouble: Bool, length: Int) {
    let first = cursor
    var isDouble = false
    while cursor < end {
      let byte = cursor.pointee
      if byte >= 0x30 && byte <= 0x39 || byte == ASCII.minus || byte == 0x2B {
        cursor += 1
      } else if byte == 0x2E || byte | 0x20 == 0x65 {
        isDouble = true
        cursor += 1
      } else {
        break
      }
    }
    return (isDouble, cursor - first)
  }

  /// Skips a date in its usual stored form, `{"$date":"2026-11-20T21:17:00.123456789Z"}`; returns
  /// whether it was next.
  @inlinable @inline(__always)
  package mutating func skipStoredDate() -> Bool {
    guard end - cursor >= 42, cursor[39] == 0x5A, cursor[40] == ASCII.quote,
      cursor[41] == ASCII.closeBrace, cursor[29] == 0x2E, cursor[20] == 0x54, cursor[14] == 0x2D
    else { return false }
    guard match(#"{"$date":""#) else { return false }
    cursor += 32
    return true
  }

  /// The bytes from the cursor to the end, valid while the document's bytes are.
  @inlinable package var rest: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: cursor, count: end - cursor)
  }

  /// Reads a string without decoding its escapes.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/typeMismatch``.
  @inlinable @inline(__always)
  package mutating func rawString() throws(StoreError) -> RawString {
    if _slowPath(!peekConsume(ASCII.quote)) { throw mismatch("a string") }
    let first = cursor
    let isEscaped = try finishString()
    return RawString(
      bytes: UnsafeRawBufferPointer(start: first, count: cursor - first - 1), isEscaped: isEscaped)
  }

  /// The undecoded content of a string, valid while the document's bytes are.
  @frozen
  @usableFromInline package struct RawString {
    /// The bytes between the quotes.
    @usableFromInline package let bytes: UnsafeRawBufferPointer
    /// Whether the string contains escapes. If not, the bytes are the text.
    @usableFromInline package let isEscaped: Bool

    @inlinable @inline(__always)
    init(bytes: UnsafeRawBufferPointer, isEscaped: Bool) {
      self.bytes = bytes
      self.isEscaped = isEscaped
    }

    /// The decoded text. If an escape is malformed, the bytes are decoded without unescaping.
    package var text: String {
      guard isEscaped, let plain = JSONReader.unescaped(bytes.assumingMemoryBound(to: UInt8.self))
      else { return String(decoding: bytes, as: UTF8.self) }
      return String(decoding: plain, as: UTF8.self)
    }
  }
}

extension JSONReader.Name {
  /// Whether the name contains escapes.
  @inlinable package var hasEscapes: Bool { isEscaped }
}
