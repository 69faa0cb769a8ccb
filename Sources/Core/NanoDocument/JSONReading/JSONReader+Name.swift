// SPDX-License-Identifier: MIT

extension JSONReader {
  /// A field's name in a document, valid while the document's bytes are.
  @frozen
  public struct Name {
    /// The bytes between the quotes.
    @usableFromInline package let bytes: UnsafeRawBufferPointer
    @usableFromInline let isEscaped: Bool

    @inlinable @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) {
      self.bytes = bytes
      self.isEscaped = isEscaped
    }

    /// Returns whether the name equals a stored name (see ``StoredName``), even if it is escaped
    /// differently.
    @inlinable @inline(__always)
    package func matches(_ stored: UnsafeRawBufferPointer) -> Bool {
      if bytes.count == stored.count {
        guard bytes.count > 0, let mine = bytes.baseAddress, let other = stored.baseAddress else {
          return true
        }
        let isSame = equalBytes(
          mine.assumingMemoryBound(to: UInt8.self), other.assumingMemoryBound(to: UInt8.self),
          bytes.count)
        if isSame { return true }
      }
      return _slowPath(isEscaped || stored.first == ASCII.dollar) ? matchesUnescaped(stored) : false
    }

    /// Returns whether the name equals a compile-time constant in stored form.
    @inlinable @inline(__always)
    public func matches(_ stored: StaticString) -> Bool {
      matches(UnsafeRawBufferPointer(start: stored.utf8Start, count: stored.utf8CodeUnitCount))
    }

    @usableFromInline @inline(never)
    func matchesUnescaped(_ stored: UnsafeRawBufferPointer) -> Bool {
      guard let mine = JSONReader.unescaped(bytes.assumingMemoryBound(to: UInt8.self)) else {
        return false
      }
      guard let other = JSONReader.unescaped(stored.assumingMemoryBound(to: UInt8.self)) else {
        return false
      }
      // A single `$` that begins no stored form, written only by other programs, is part of the name.
      return mine == other || (Self.isReserved(mine) && other == [ASCII.dollar] + mine)
    }

    /// Whether the name begins with exactly one `$`, as the names of stored forms do.
    @inlinable @inline(__always)
    var isReserved: Bool {
      if _slowPath(isEscaped) { return isReservedUnescaped }
      guard bytes.count > 0, bytes[0] == ASCII.dollar else { return false }
      return bytes.count == 1 || bytes[1] != ASCII.dollar
    }

    /// The value of ``isReserved`` for a name whose `$` may be escaped.
    @usableFromInline @inline(never)
    var isReservedUnescaped: Bool {
      JSONReader.unescaped(bytes.assumingMemoryBound(to: UInt8.self)).map(Self.isReserved) ?? false
    }

    private static func isReserved(_ name: [UInt8]) -> Bool {
      name.first == ASCII.dollar && name.dropFirst().first != ASCII.dollar
    }

    /// The name without escapes and without the doubled `$`.
    package var text: String {
      @inline(__always) get throws(StoreError) {
        if _fastPath(!isEscaped && bytes.first != ASCII.dollar) {
          return String(decoding: bytes, as: UTF8.self)
        }
        return try decodedText
      }
    }

    private var decodedText: String {
      get throws(StoreError) {
        guard let plain = JSONReader.unescaped(bytes.assumingMemoryBound(to: UInt8.self)) else {
          throw StoreError(
            .corruptDocument, "A stored document does not decode",
            [.expected: "a field name with well-formed escapes"])
        }
        let isDoubled = plain.count >= 2 && plain[0] == ASCII.dollar && plain[1] == ASCII.dollar
        return String(decoding: isDoubled ? plain[1...] : plain[...], as: UTF8.self)
      }
    }
  }

  /// Reads a field's name and the colon after it.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  @inlinable @inline(__always)
  package mutating func rawName() throws(StoreError) -> Name {
    try expect(ASCII.quote)
    let first = cursor
    let isEscaped = try finishString()
    let bytes = UnsafeRawBufferPointer(start: first, count: cursor - first - 1)
    try expect(ASCII.colon)
    return Name(bytes, isEscaped: isEscaped)
  }
}

/// A field name as documents store it: JSON-escaped, with a leading `$` doubled.
///
/// Create it once for a name that is looked up in many documents.
@usableFromInline package struct StoredName: Sendable, Hashable {
  /// The bytes between the quotes in a document.
  @usableFromInline package let utf8: [UInt8]

  /// Creates the stored form of a field name.
  package init(_ name: String) {
    var writer = JSONWriter(capacity: name.utf8.count + 8)
    writer.fieldName(name)
    utf8 = writer.withBytes { Array($0.dropFirst().dropLast(2)) }
  }
}
