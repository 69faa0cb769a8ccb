// SPDX-License-Identifier: MIT

package import NanoDocument

/// The scope of a full-text search: the fields whose texts are searched, and their tokenizer.
package struct FullTextScope: Sendable, Hashable {
  /// The fields. Arrays of strings are traversed, as in conditions.
  package var fields: [FieldPath]
  /// The tokenizer.
  package var tokens: Tokenizer

  /// Creates a scope from fields and a tokenizer.
  package init(_ fields: [FieldPath], tokens: Tokenizer = .words) {
    self.fields = fields
    self.tokens = tokens
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` if the index does not contain a field.
  package func requireField(_ path: FieldPath) throws(StoreError) {
    guard !fields.contains(path) else { return }
    throw StoreError(
      .invalidArgument, "The full-text index does not contain this field",
      [
        .field: path.description,
        .expected: fields.map(\.description).joined(separator: ", "),
      ])
  }

  /// Returns the numbers of the fields that a phrase is restricted to; those of all fields for `nil`.
  func numbers(of field: FieldPath?) -> [Int] {
    fields.indices.filter { field == nil || fields[$0] == field }
  }

  /// The separator between two texts of one field, so that no phrase matches across them. It contains a
  /// private-use character, which is a word of its own.
  package static let separator = "\n\(border)\n"

  /// The private-use character that separates texts.
  package static let border: Unicode.Scalar = "\u{E000}"

  /// Checks the fields.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if there is no field or a duplicate,
  ///   ``StoreError/Code/invalidPath``, ``StoreError/Code/unsupported`` if a path contains an array
  ///   index.
  package func validate() throws(StoreError) {
    guard !fields.isEmpty else {
      throw StoreError(.invalidArgument, "A full-text index needs at least one field")
    }
    for path in fields {
      try path.validate()
      guard !path.addressesElement else {
        throw StoreError(
          .unsupported, "A full-text index cannot contain an array element by index",
          [.field: path.description])
      }
    }
    guard Set(fields).count == fields.count else {
      throw StoreError(.invalidArgument, "A full-text index lists a field twice")
    }
  }
}

/// The tokenization of indexed texts.
public enum Tokenizer: String, Sendable, Hashable, CaseIterable {
  /// Words: runs of letters and digits. Matching ignores case, and diacritics of Latin letters.
  case words
  /// Trigrams: every run of three characters, case-insensitive, so that any substring can be found.
  /// Accents are significant: `creme` does not find "crème", as it does with ``words``.
  case substrings
}
