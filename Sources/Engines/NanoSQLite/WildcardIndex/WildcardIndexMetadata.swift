// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSQL

/// Metadata about a collection's wildcard index for compiling queries.
///
/// The index has a row for each scalar value of each document: the number of its path, the value in the form of
/// ``WildcardIndexValue``, and the document's row ID.
struct WildcardIndexMetadata {
  /// The name of the table.
  var table: String
  /// Returns the numbers of all paths that a field's values may have.
  var attributes: (FieldPath) -> [Int32]
  /// Returns every path with indexed values.
  var all: () -> [WildcardIndexPath]

  init(
    table: String, attributes: @escaping (FieldPath) -> [Int32],
    all: @escaping () -> [WildcardIndexPath]
  ) {
    self.table = table
    self.attributes = attributes
    self.all = all
  }
}

extension SQLBinding {
  init(_ value: WildcardIndexValue) {
    self =
      switch value {
      case .int(let number): .int(number)
      case .double(let number): .double(number)
      case .text(let text): .text(text)
      case .data(let data): .data(data)
      }
  }
}
