// SPDX-License-Identifier: MIT

/// The text identity of a document, kept as 16 bytes if it is a UUID in its usual lower-case form.
///
/// Every other text is kept as it is, so that a key always comes back as it was given: an
/// upper-case UUID is another key than the same one in lower case.
public enum DocumentKey: Sendable, Hashable {
  case uuid(UInt64, UInt64)
  case text(String)

  /// - Throws: ``StoreError/Code/invalidKey`` if the key is empty, holds a NUL or is over 1 MB.
  public init(_ text: String) throws(StoreError) {
    if let (high, low) = Self.parse(text) {
      self = .uuid(high, low)
      return
    }
    guard !text.isEmpty else { throw StoreError(.invalidKey, "A key is empty") }
    guard !text.utf8.contains(0) else { throw StoreError(.invalidKey, "A key holds a NUL") }
    guard text.utf8.count <= Self.maximumLength else {
      throw StoreError(
        .invalidKey, "A key is too long",
        [.limit: "\(Self.maximumLength) bytes", .actual: "\(text.utf8.count) bytes"])
    }
    self = .text(text)
  }

  /// Longest key in bytes. SQLite would take more; a key of over 1 MB is a mistake.
  public static let maximumLength = 1_000_000

  /// The 128 bits of a UUID, if the text is one in lower-case 8-4-4-4-12 form.
  private static func parse(_ text: String) -> (UInt64, UInt64)? {
    guard text.utf8.count == 36 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    var digits = 0
    for (position, byte) in text.utf8.enumerated() {
      if position == 8 || position == 13 || position == 18 || position == 23 {
        guard byte == 0x2D else { return nil }
        continue
      }
      let digit: UInt64
      switch byte {
      case 0x30...0x39: digit = UInt64(byte - 0x30)
      case 0x61...0x66: digit = UInt64(byte - 0x57)
      default: return nil
      }
      if digits < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
      digits += 1
    }
    return words
  }
}

extension DocumentKey {
  /// Keys are the same if they have the same bytes; String's equality takes differently composed
  /// ones for the same.
  public static func == (a: DocumentKey, b: DocumentKey) -> Bool {
    switch (a, b) {
    case (.uuid(let high, let low), .uuid(let otherHigh, let otherLow)):
      high == otherHigh && low == otherLow
    case (.text(let text), .text(let other)): text.utf8.elementsEqual(other.utf8)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .uuid(let high, let low):
      hasher.combine(high)
      hasher.combine(low)
    case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
    }
  }
}

extension DocumentKey: CustomStringConvertible {
  /// The key as text, the same that it was made from.
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
