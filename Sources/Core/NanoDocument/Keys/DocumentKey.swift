// SPDX-License-Identifier: MIT

/// The key of a document, stored in 16 bytes if it is a UUID in canonical lowercase form.
///
/// Any other text is stored verbatim, so that a key always round-trips exactly: an uppercase UUID is a
/// different key than the same UUID in lowercase.
public enum DocumentKey: Sendable, Hashable {
  /// A UUID as its high and low 64 bits.
  case uuid(UInt64, UInt64)
  /// Any other text. Use ``init(_:)``, which recognizes UUIDs and validates the text.
  case text(String)

  /// Creates a key from its text.
  ///
  /// - Throws: ``StoreError/Code/invalidKey`` if the key is empty, contains a NUL character or exceeds
  ///   1 MB.
  public init(_ text: String) throws(StoreError) {
    if let (high, low) = Self.parse(text) {
      self = .uuid(high, low)
      return
    }
    guard !text.isEmpty else { throw StoreError(.invalidKey, "A key is empty") }
    guard !text.utf8.contains(0) else {
      throw StoreError(.invalidKey, "A key contains a NUL character")
    }
    guard text.utf8.count <= Self.maximumLength else {
      throw StoreError(
        .invalidKey, "A key is too long",
        [.limit: "\(Self.maximumLength) bytes", .actual: "\(text.utf8.count) bytes"])
    }
    self = .text(text)
  }

  /// The maximum length of a key in bytes. SQLite allows more, but a key over 1 MB is a programming
  /// error.
  package static let maximumLength = 1_000_000

  /// Returns the 128 bits of a UUID in lowercase 8-4-4-4-12 form, or `nil` for any other text.
  @inline(__always)
  private static func parse(_ text: String) -> (UInt64, UInt64)? {
    guard text.utf8.count == 36 else { return nil }
    if let words = text.utf8.withContiguousStorageIfAvailable(parse) { return words }
    return Array(text.utf8).withUnsafeBufferPointer(parse)
  }

  /// Returns the 128 bits of a UUID in an engine's UTF-8; see ``parse(_:)``.
  package static func uuid(_ text: UnsafeRawBufferPointer) -> (UInt64, UInt64)? {
    guard text.count == 36 else { return nil }
    return parse(text.assumingMemoryBound(to: UInt8.self))
  }

  private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64)? {
    guard text[8] == 0x2D, text[13] == 0x2D, text[18] == 0x2D, text[23] == 0x2D else { return nil }
    func digits(_ range: Range<Int>, _ word: UInt64) -> UInt64? {
      var word = word
      for index in range {
        switch text[index] {
        case 0x30...0x39: word = word << 4 | UInt64(text[index] &- 0x30)
        case 0x61...0x66: word = word << 4 | UInt64(text[index] &- 0x57)
        default: return nil
        }
      }
      return word
    }
    guard let first = digits(0..<8, 0), let second = digits(9..<13, first),
      let high = digits(14..<18, second), let fourth = digits(19..<23, 0),
      let low = digits(24..<36, fourth)
    else { return nil }
    return (high, low)
  }
}

extension DocumentKey {
  /// Keys are equal if their bytes are equal. String equality would ignore differences in Unicode
  /// normalization.
  public static func == (a: DocumentKey, b: DocumentKey) -> Bool {
    switch (a, b) {
    case (.uuid(let high, let low), .uuid(let otherHigh, let otherLow)):
      high == otherHigh && low == otherLow
    case (.text(let text), .text(let other)): text.hasSameBytes(as: other)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .uuid(let high, let low):
      hasher.combine(high)
      hasher.combine(low)
    case .text(let text): hasher.combine(ExactName(text))
    }
  }
}

extension DocumentKey: CustomStringConvertible {
  /// The key's text, identical to the text it was created from.
  public var description: String {
    switch self {
    case .text(let text): return text
    case .uuid(let high, let low):
      return String(unsafeUninitializedCapacity: 36) { out in
        var at = 0
        for digit in 0..<32 {
          if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
            out[at] = 0x2D
            at += 1
          }
          let word = digit < 16 ? high : low
          let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - (digit & 15) * 4)) & 15
          out[at] = nibble < 10 ? 0x30 + nibble : 0x57 + nibble
          at += 1
        }
        return 36
      }
    }
  }
}
