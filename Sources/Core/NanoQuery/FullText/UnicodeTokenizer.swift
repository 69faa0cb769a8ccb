// SPDX-License-Identifier: MIT

import Foundation

/// Classifies and folds characters like SQLite's `unicode61` tokenizer
/// (https://sqlite.org/fts5.html#unicode61_tokenizer): by the tables of Unicode 6.1, with every later
/// character treated as a word character.
enum UnicodeTokenizer {
  /// Returns whether a character is part of a word: a letter, a digit or a private-use character.
  static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x80 { return isASCIIWord(scalar.value) }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .privateUse:
      return !laterLetters.contains(scalar.value)
    case .unassigned: return !isReadAsReplacement(scalar)
    default: return isNewer(scalar) || formerLetters.contains(scalar.value)
    }
  }

  /// New Tai Lue and Vedic characters that were marks in Unicode 6.1, and Mongolian ones that were
  /// letters.
  private static let laterLetters: Set<UInt32> = Set(0x19B0...0x19C0).union([
    0x19C8, 0x19C9, 0x1CF2, 0x1CF3,
  ])
  private static let formerLetters: Set<UInt32> = [0x1885, 0x1886]

  /// Returns whether SQLite reads a character as U+FFFD: the last two of the first plane.
  private static func isReadAsReplacement(_ scalar: Unicode.Scalar) -> Bool {
    (0xFFFE...0xFFFF).contains(scalar.value)
  }

  private static func isASCIIWord(_ value: UInt32) -> Bool {
    (0x30...0x39).contains(value) || (0x41...0x5A).contains(value) || (0x61...0x7A).contains(value)
  }

  private static func isNewer(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.age.map { $0 > (6, 1) } ?? true
  }

  /// Returns whether a character is a combining diacritic, above or below the preceding letter.
  static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
    guard (0x300...0x331).contains(scalar.value) else { return false }
    switch scalar.value {
    case 0x300...0x304, 0x306...0x30C, 0x30F, 0x311, 0x31B, 0x323...0x328, 0x32D, 0x32E, 0x330,
      0x331:
      return true
    default: return false
    }
  }

  /// Returns the folded character, or `nil` if the character is dropped.
  static func folded(_ scalar: Unicode.Scalar, _ tokens: Tokenizer) -> Unicode.Scalar? {
    if scalar.value < 0x80 {
      return (0x41...0x5A).contains(scalar.value) ? lowercase(scalar) : scalar
    }
    if isReadAsReplacement(scalar) { return "\u{FFFD}" }
    guard tokens == .words else { return lowercase(scalar) }
    return isAccent(scalar) ? nil : withoutAccents(lowercase(scalar))
  }

  /// Lowercases by way of uppercase, so that both lowercase sigmas are equal.
  private static func lowercase(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.value < 0x80 { return Unicode.Scalar(scalar.value | 0x20) ?? scalar }
    // Uppercasing would turn the dotless i into a dotted one.
    guard scalar.value != 0x131, !isNewer(scalar) else { return scalar }
    let upper = single(scalar.properties.uppercaseMapping) ?? scalar
    return single(upper.properties.lowercaseMapping) ?? single(scalar.properties.lowercaseMapping)
      ?? scalar
  }

  private static func single(_ mapping: String) -> Unicode.Scalar? {
    let scalars = mapping.unicodeScalars
    guard let first = scalars.first, scalars.count == 1 else { return nil }
    // Letters newer than the tables have no mappings.
    return isNewer(first) ? nil : first
  }

  private static func withoutAccents(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    guard let index = Int(exactly: scalar.value), index < accented.count else {
      return scalar
    }
    let base = accented[index]
    return base == 0 ? scalar : Unicode.Scalar(base)
  }

  /// The base letter of each accented Latin letter; 0 for all other characters. Letters with several
  /// diacritics start at U+1E00.
  private static let accented: [UInt8] = (0..<0x1F00).map { value in
    let isLatin = (0xC0..<0x250).contains(value) || value >= 0x1E00
    guard isLatin, let scalar = Unicode.Scalar(UInt32(value)) else { return 0 }
    let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
    guard let base = parts.first, parts.count > 1, isASCIIWord(base.value),
      !withTwoAccents.contains(value)
    else { return 0 }
    return UInt8(lowercase(base).value)
  }

  /// `Ǡ` and `ǡ`, the only letter with two diacritics that SQLite leaves unchanged.
  private static let withTwoAccents = 0x1E0...0x1E1
}
