// SPDX-License-Identifier: MIT

package import NanoDocument

/// The identifier of a revision: its generation and a hash, as `3-917fa2381192822767f010b95b45325b`.
///
/// Revisions are ordered by generation and then by hash, compared by the bytes that CouchDB stores: 32 hexadecimal digits
/// stand for 16 bytes, any other hash for its UTF-8. With mixed forms, this order differs from that of the texts.
package struct RevisionID: Sendable, Hashable, Comparable {
  package let generation: Int
  package let hash: RevisionHash

  package init(generation: Int, hash: RevisionHash) {
    self.generation = generation
    self.hash = hash
  }

  /// Parses the text of a revision; nil if it is not a positive number, a hyphen, and a hash, which may be empty.
  package init?(_ text: some StringProtocol) {
    guard let hyphen = text.utf8.firstIndex(of: UInt8(ascii: "-")) else { return nil }
    let digits = text[..<hyphen]
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let generation = Int(digits),
      generation > 0, generation < .max
    else { return nil }
    self.init(
      generation: generation, hash: RevisionHash(String(text[text.utf8.index(after: hyphen)...])))
  }

  /// Returns the generation of a revision that follows another one, or of a first one.
  ///
  /// Generations from other programs are limited, but stores may have one of an earlier version, which had no limit.
  static func generation(after parent: RevisionID?) -> Int {
    guard let parent else { return 1 }
    return parent.generation == .max ? .max : parent.generation + 1
  }

  package static func < (a: RevisionID, b: RevisionID) -> Bool {
    a.generation != b.generation ? a.generation < b.generation : a.hash < b.hash
  }
}

extension RevisionID: CustomStringConvertible {
  package var description: String { "\(generation)-\(hash)" }
}

/// The part of a revision's identifier after the generation.
package enum RevisionHash: Sendable, Hashable, Comparable {
  /// 32 hexadecimal digits, the form of all revisions that are created here.
  case digest(UInt64, UInt64)
  /// Any other text, which other programs choose; CouchDB accepts an empty one.
  case text(ExactName)

  /// Capital digits become small ones, as in CouchDB.
  package init(_ text: String) {
    if let (high, low) = Self.words(text) {
      self = .digest(high, low)
    } else {
      self = .text(ExactName(text))
    }
  }

  private static func words(_ text: String) -> (UInt64, UInt64)? {
    guard text.utf8.count == 32 else { return nil }
    var (words, index) = ((UInt64(0), UInt64(0)), 0)
    for byte in text.utf8 {
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46: digit = byte - 0x37
      case 0x61...0x66: digit = byte - 0x57
      default: return nil
      }
      if index < 16 {
        words.0 = words.0 << 4 | UInt64(digit)
      } else {
        words.1 = words.1 << 4 | UInt64(digit)
      }
      index += 1
    }
    return words
  }

  /// The bytes that are compared.
  package var bytes: [UInt8] {
    switch self {
    case .digest(let high, let low):
      withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    case .text(let name): Array(name.text.utf8)
    }
  }

  package static func < (a: RevisionHash, b: RevisionHash) -> Bool {
    if case .digest(let high, let low) = a, case .digest(let otherHigh, let otherLow) = b {
      return (high, low) < (otherHigh, otherLow)
    }
    if case .text(let a) = a, case .text(let b) = b {
      return a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }
    return a.bytes.lexicographicallyPrecedes(b.bytes)
  }
}

extension RevisionHash: CustomStringConvertible {
  package var description: String {
    switch self {
    case .digest(let high, let low):
      let digits = Array("0123456789abcdef".utf8)
      return String(unsafeUninitializedCapacity: 32) { out in
        for index in 0..<32 {
          let word = index < 16 ? high : low
          out[index] = digits[Int(word >> UInt64(60 - (index & 15) * 4) & 15)]
        }
        return 32
      }
    case .text(let name): return name.text
    }
  }
}
