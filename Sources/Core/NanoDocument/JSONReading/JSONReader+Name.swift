// SPDX-License-Identifier: MIT

extension JSONReader {
  /// A field's name as it stands in the document, valid as long as the document's bytes.
  @frozen
  public struct Name {
    /// What stands between the quotes.
    @usableFromInline package let bytes: UnsafeRawBufferPointer
    @usableFromInline let isEscaped: Bool

    @inlinable @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) {
      self.bytes = bytes
      self.isEscaped = isEscaped
    }

    /// Whether this is the name that is stored with these bytes (see ``StoredName``); also if it
    /// was written with other escapes.
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

    /// Whether this is a name known at compile time, given in stored form.
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
      // A single `$` that begins none of our forms, which only other programs write, is part of the name.
      return mine == other || (Self.isReserved(mine) && other == [ASCII.dollar] + mine)
    }

    /// Whether the name begins with just one `$`, as those of the forms for dates and so on do.
    @inlinable @inline(__always)
    var isReserved: Bool {
      if _slowPath(isEscaped) { return isReservedUnescaped }
      guard bytes.count > 0, bytes[0] == ASCII.dollar else { return false }
      return bytes.count == 1 || bytes[1] != ASCII.dollar
    }

    /// As ``isReserved``, for a name whose `$` may be written as an escape.
    @usableFromInline @inline(never)
    var isReservedUnescaped: Bool {
      JSONReader.unescaped(bytes.assumingMemoryBound(to: UInt8.self)).map(Self.isReserved) ?? false
    }

    private static func isReserved(_ name: [UInt8]) -> Bool {
      name.first == ASCII.dollar && name.dropFirst().first != ASCII.dollar
    }

    /// The name itself, without escapes and without the `$` that was put before another.
    package var text: String {
      @inline(__always) get throws(StoreError) {
        if _fastPath(!isEscaped && bytes.first != ASCII.dollar) {
          return String(decoding: bytes, as: UTF8.self)
        }
        return try unusualText
      }
    }

    private var unusualText: String {
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

/// A field's name as documents hold it: a `$` put before one at the beginning, and JSON's escapes.
///
/// Made once for a name that is looked up in many documents.
@usableFromInline package struct StoredName: Sendable, Hashable {
  /// What stands between the quotes in a document.
  @usableFromInline package let utf8: [UInt8]

  /// The stored form of a name as a user writes it.
  package init(_ name: String) {
    var writer = JSONWriter(capacity: name.utf8.count + 8)
    writer.fieldName(name)
    utf8 = writer.withBytes { Array($0.dropFirst().dropLast(2)) }
  }
}
