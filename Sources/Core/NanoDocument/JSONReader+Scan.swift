// SPDX-License-Identifier: MIT

extension JSONReader {
  /// What kind of value stands here, by its first byte.
  @frozen
  public enum Kind: Sendable {
    case null, bool, number, string, array
    /// An object, or one of the forms for values that JSON lacks; see ``JSONReader/isStoredForm``.
    case object
    /// Nothing that a value begins with.
    case none
  }

  /// The kind of the next value; white space before it is skipped.
  @inlinable @inline(__always)
  public mutating func kind() -> Kind {
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

  /// Whether the object that stands here begins with a name of one `$`, so that it may be a date or
  /// another value that JSON lacks.
  @inlinable @inline(__always)
  public var isStoredForm: Bool {
    var ahead = self
    guard ahead.peekConsume(ASCII.openBrace), ahead.peekConsume(ASCII.quote),
      ahead.cursor + 1 < end
    else { return false }
    return ahead.cursor[0] == ASCII.dollar && ahead.cursor[1] != ASCII.dollar
  }

  /// The bytes from the cursor to the end, valid as long as the document's bytes.
  @inlinable public var rest: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: cursor, count: end - cursor)
  }

  /// Reads a string as it stands between its quotes.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/typeMismatch``.
  @inlinable @inline(__always)
  public mutating func rawString() throws(StoreError) -> RawString {
    if _slowPath(!peekConsume(ASCII.quote)) { throw mismatch("a text") }
    let first = cursor
    let isEscaped = try finishString()
    return RawString(
      bytes: UnsafeRawBufferPointer(start: first, count: cursor - first - 1), isEscaped: isEscaped)
  }

  /// A string between its quotes, valid as long as the document's bytes.
  @frozen
  public struct RawString {
    public let bytes: UnsafeRawBufferPointer
    /// Whether there are escapes in it; if not, the bytes are the text.
    public let isEscaped: Bool

    @inlinable @inline(__always)
    init(bytes: UnsafeRawBufferPointer, isEscaped: Bool) {
      self.bytes = bytes
      self.isEscaped = isEscaped
    }

    /// The text; damaged escapes are replaced.
    public var text: String {
      guard isEscaped, let plain = JSONReader.unescaped(bytes.assumingMemoryBound(to: UInt8.self))
      else { return String(decoding: bytes, as: UTF8.self) }
      return String(decoding: plain, as: UTF8.self)
    }
  }
}

extension JSONReader.Name {
  /// Whether the name is written with escapes.
  @inlinable public var hasEscapes: Bool { isEscaped }
}
