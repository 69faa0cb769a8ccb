// SPDX-License-Identifier: MIT

/// Computes the number of terminal columns that text occupies in most terminals.
enum DisplayWidth {
  static func of(_ text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  /// Returns the width of the widest scalar, so that an emoji sequence counts as one emoji.
  static func of(_ character: Character) -> Int {
    if character.isASCII { return 1 }
    var width = 0
    for scalar in character.unicodeScalars {
      // Variation selector 16 requests the wide, colored form of the preceding scalar.
      if scalar.value == 0xFE0F { return 2 }
      width = max(width, of(scalar))
    }
    return width
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// The blocks of wide and fullwidth characters (W and F in Unicode's EastAsianWidth), merged across unassigned
  /// ranges.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
    0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
    0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF,
    0x1F1E6...0x1F1FF, 0x20000...0x3FFFD,
  ]

  /// Returns the text truncated to a width, with `…` at the end if it was truncated.
  static func fitted(_ text: String, _ width: Int) -> String {
    guard of(text) > width else { return text }
    guard width > 0 else { return "" }
    var fitted = ""
    var used = 0
    for character in text {
      used += of(character)
      // One column is reserved for the ellipsis.
      if used > width - 1 { break }
      fitted.append(character)
    }
    while fitted.last == " " { fitted.removeLast() }
    return fitted + "…"
  }
}
