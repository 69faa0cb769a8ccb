// SPDX-License-Identifier: MIT

/// A name that is compared, hashed and ordered by its exact UTF-8 bytes.
///
/// Equality and hashing of `String` follow canonical equivalence: `é` as one code point equals `e` with
/// a combining accent, and the Kelvin sign equals `K`. A store distinguishes such names
/// (docs/QUERY-SEMANTICS.md, rule 1). Names and strings that can come from data are therefore used as
/// dictionary keys and set members only in this type, and are compared with
/// ``Swift/String/hasSameBytes(as:)``.
@usableFromInline
package struct ExactName: Hashable, Comparable, Sendable {
  @usableFromInline package var text: String

  @inlinable @inline(__always)
  package init(_ text: String) { self.text = text }

  @inlinable @inline(__always)
  package static func == (a: ExactName, b: ExactName) -> Bool { a.text.hasSameBytes(as: b.text) }

  @inlinable @inline(__always)
  package static func < (a: ExactName, b: ExactName) -> Bool { a.text.isBefore(b.text) }

  @inlinable
  package func hash(into hasher: inout Hasher) {
    let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if isDone == nil { for byte in text.utf8 { hasher.combine(byte) } }
    // 0xFF never occurs in UTF-8, so two names in sequence do not hash like two others with the same
    // concatenation.
    hasher.combine(UInt8(0xFF))
  }
}

extension ExactName: CustomStringConvertible, ExpressibleByStringLiteral {
  @usableFromInline package var description: String { text }
  @inlinable package init(stringLiteral text: String) { self.init(text) }
}

extension String {
  /// Returns whether both strings have the same UTF-8 bytes.
  @inlinable @inline(__always)
  package func hasSameBytes(as other: String) -> Bool {
    // A string of up to 15 bytes is stored inline in two words, and longer strings that share storage
    // have equal words; `==` uses the same fast path. On 32-bit platforms, a string is smaller.
    if MemoryLayout<String>.size == MemoryLayout<Words>.size {
      let (a, b) = (unsafeBitCast(self, to: Words.self), unsafeBitCast(other, to: Words.self))
      if a.0 == b.0, a.1 == b.1 { return true }
    }
    return utf8.count == other.utf8.count && matchesBytes(of: other)
  }

  @usableFromInline typealias Words = (UInt64, UInt64)

  /// - Precondition: Both strings have the same number of bytes.
  @usableFromInline
  func matchesBytes(of other: String) -> Bool {
    let count = utf8.count
    let isSame: Bool?? = utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { others in
        guard let a = mine.baseAddress, let b = others.baseAddress else { return count == 0 }
        return equalBytes(a, b, count)
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Returns whether the name sorts before another by UTF-8 bytes, which is code point order and
  /// independent of a database's collation.
  @inlinable
  package func isBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

/// Prefix, suffix and substring checks on UTF-8 bytes. `String` compares characters, and a combining
/// mark changes the character before it.
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
  /// Returns whether both strings have the same UTF-8 bytes, or both are `nil`.
  package func hasSameBytes(as other: String?) -> Bool {
    switch (self, other) {
    case (.some(let mine), .some(let other)): mine.hasSameBytes(as: other)
    case (nil, nil): true
    default: false
    }
  }
}

extension Dictionary where Key == String {
  /// The same entries, keyed by exact name.
  package var byExactName: [ExactName: Value] {
    [ExactName: Value](uniqueKeysWithValues: lazy.map { (ExactName($0.key), $0.value) })
  }
}

extension Sequence<String> {
  /// Returns whether the sequence contains a string with the same UTF-8 bytes.
  package func containsExactly(_ text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

extension Collection<String> {
  /// Returns whether both collections contain the same strings, by UTF-8 bytes, in the same order.
  package func hasSameBytes(as other: some Collection<String>) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.hasSameBytes(as: $1) }
  }
}
