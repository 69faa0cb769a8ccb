// SPDX-License-Identifier: MIT

/// Unicode case folding.
///
/// Each scalar is mapped to lowercase by way of uppercase, which equals full case folding for all but a
/// handful of letters: `ß` and `SS`, the two lowercase sigmas, and the Kelvin sign and `k` become
/// equal. The dotless `ı` is unchanged, as in Unicode's CaseFolding.txt.
package enum TextFolding {
  /// Returns the case-folded text.
  package static func fold(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
    var folded = ""
    folded.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars { append(scalar, to: &folded) }
    return folded
  }

  private static func append(_ scalar: Unicode.Scalar, to folded: inout String) {
    // Uppercasing would map U+0131 to `I`, and so to `i`.
    guard scalar.value != 0x131 else { return folded.unicodeScalars.append(scalar) }
    for lower in scalar.properties.lowercaseMapping.unicodeScalars {
      for upper in lower.properties.uppercaseMapping.unicodeScalars {
        folded.unicodeScalars.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
      }
    }
  }
}
