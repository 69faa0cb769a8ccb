// SPDX-License-Identifier: MIT

/// Text without regard to case, by Unicode.
///
/// Each scalar is mapped to lower case by way of upper case, which is what full case folding does
/// for all but a handful of letters: `ß` and `SS`, the two small sigmas, and the Kelvin sign and
/// `k` become the same. The dotless `ı` stays itself, as Unicode's CaseFolding.txt has it.
package enum TextFolding {
  /// The text in the form in which texts that differ by case only are equal.
  package static func fold(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
    var folded = ""
    folded.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars { append(scalar, to: &folded) }
    return folded
  }

  private static func append(_ scalar: Unicode.Scalar, to folded: inout String) {
    // U+0131 would become `i` by way of `I`.
    guard scalar.value != 0x131 else { return folded.unicodeScalars.append(scalar) }
    for lower in scalar.properties.lowercaseMapping.unicodeScalars {
      for upper in lower.properties.uppercaseMapping.unicodeScalars {
        folded.unicodeScalars.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
      }
    }
  }
}
