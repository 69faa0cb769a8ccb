// SPDX-License-Identifier: MIT

/// A name that equals another name only if both have the same UTF-8 bytes, and is ordered by them.
///
/// Equality and hashing of `String` follow canonical equivalence: `é` in one code point equals `e`
/// with a combining accent, and the Kelvin sign equals `K`. A store keeps such names apart
/// (docs/QUERY-SEMANTICS.md, rule 1). Names and texts that data can contain are therefore keys of
/// dictionaries and sets only as this type, and are compared with ``Swift/String/isSame(as:)``.
@usableFromInline
package struct ExactName: Hashable, Comparable, Sendable {
  @usableFromInline package var text: String

  @inlinable @inline(__always)
  package init(_ text: String) { self.text = text }

  @inlinable @inline(__always)
  package static func == (a: ExactName, b: ExactName) -> Bool { a.text.isSame(as: b.text) }

  @inlinable @inline(__always)
  package static func < (a: ExactName, b: ExactName) -> Bool { a.text.isBefore(b.text) }

  @inlinable
  package func hash(into hasher: inout Hasher) {
    let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if isDone == nil { for byte in text.utf8 { hasher.combine(byte) } }
    // No byte of UTF-8: two names in a row do not hash as two others with the same bytes.
    hasher.combine(UInt8(0xFF))
  }
}

extension ExactName: CustomStringConvertible, ExpressibleByStringLiteral {
  @usableFromInline package var description: String { text }
  @inlinable package init(stringLiteral text: String) { self.init(text) }
}

extension String {
  /// Whether both texts have the same UTF-8 bytes.
  @inlinable @inline(__always)
  package func isSame(as other: String) -> Bool {
    // Texts of up to 15 bytes stand in two words, and longer ones that share their storage have the same two;
    // `==` begins with the same look. A text takes less on machines with 32 bits.
    if MemoryLayout<String>.size == MemoryLayout<Words>.size {
      let (a, b) = (unsafeBitCast(self, to: Words.self), unsafeBitCast(other, to: Words.self))
      if a.0 == b.0, a.1 == b.1 { return true }
    }
    return utf8.count == other.utf8.count && hasSameBytes(as: other)
  }

  @usableFromInline typealias Words = (UInt64, UInt64)

  /// - Precondition: Both texts have the same number of bytes.
  @usableFromInline
  func hasSameBytes(as other: String) -> Bool {
    let count = utf8.count
    let isSame: Bool?? = utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { others in
        guard let a = mine.baseAddress, let b = others.baseAddress else { return count == 0 }
        return equalBytes(a, b, count)
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Whether it comes before another name in lists of names: by UTF-8 bytes, which is the order of code points,
  /// whatever a database's order is.
  @inlinable
  package func isBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

/// Parts of texts by UTF-8 bytes. `String` looks for characters, and a combining mark makes another character of
/// what comes before it.
extension String {
  package func hasExactPrefix(_ beginning: String) -> Bool { utf8.starts(with: beginning.utf8) }

  package func hasExactSuffix(_ end: String) -> Bool {
    utf8.count >= end.utf8.count && utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
  }

  package func contains(exactly part: String) -> Bool {
    utf8.firstRange(of: Array(part.utf8)) != nil
  }
}

extension Optional where Wrapped == String {
  /// Whether both texts have the same UTF-8 bytes, or there is none on either side.
  package func isSame(as other: String?) -> Bool {
    switch (self, other) {
    case (.some(let mine), .some(let other)): mine.isSame(as: other)
    case (nil, nil): true
    default: false
    }
  }
}

extension Dictionary where Key == String {
  /// The same entries, found by the exact bytes of their names.
  package var byExactName: [ExactName: Value] {
    [ExactName: Value](uniqueKeysWithValues: lazy.map { (ExactName($0.key), $0.value) })
  }
}

extension Sequence<String> {
  /// Whether a text with the same UTF-8 bytes is among them.
  package func containsExactly(_ text: String) -> Bool { contains { $0.isSame(as: text) } }
}

extension Collection<String> {
  /// Whether both lists have the same texts by UTF-8 bytes, in the same order.
  package func isSame(as other: some Collection<String>) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
  }
}
