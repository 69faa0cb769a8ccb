// SPDX-License-Identifier: MIT

/// Ranges of texts in the order of code points.
package enum TextRange {
  /// The least text above every text that begins with this one; nil if there is none.
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
