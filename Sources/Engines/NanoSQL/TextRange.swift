// SPDX-License-Identifier: MIT

/// Ranges of strings in code point order.
package enum TextRange {
  /// Returns the smallest string greater than every string with this prefix; `nil` if there is none.
  package static func upperBound(ofPrefix prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // The scalars after U+D7FF begin at U+E000, and UTF-8 keeps their order.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars + [scalar])
      return String(view)
    }
    return nil
  }
}
