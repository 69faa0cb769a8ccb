// SPDX-License-Identifier: MIT

package import NanoDocument

/// What a search by text looks at: the texts of some fields, and how they are taken apart.
package struct FullTextScope: Sendable, Hashable {
  /// The fields, in which lists of texts are entered as in conditions.
  package var fields: [FieldPath]
  /// What is compared.
  package var tokens: Tokenizer

  package init(_ fields: [FieldPath], tokens: Tokenizer = .words) {
    self.fields = fields
    self.tokens = tokens
  }

  /// Stands between two texts of one field, so that no phrase reaches from one into the other. A
  /// character of private use, which is a word of its own that nobody writes.
  package static let separator = "\n\(border)\n"

  /// The word between two texts.
  package static let border: Unicode.Scalar = "\u{E000}"

  /// Throws if there is no field, a path is not one, addresses an element by number, or stands twice.
  package func validate() throws(StoreError) {
    guard !fields.isEmpty else {
      throw StoreError(.invalidArgument, "A text index needs a field")
    }
    for path in fields {
      try path.validate()
      guard !path.addressesElement else {
        throw StoreError(
          .unsupported, "A text index cannot address one element by number",
          [.field: path.description])
      }
    }
    guard Set(fields).count == fields.count else {
      throw StoreError(.invalidArgument, "A text index names a field twice")
    }
  }
}

/// Into what a text is taken apart.
public enum Tokenizer: String, Sendable, Hashable, CaseIterable {
  /// Words: runs of letters and digits, without regard to case and to accents of Latin letters.
  case words
  /// Every run of three characters, without regard to case, so that any part of a text is found.
  case substrings
}
