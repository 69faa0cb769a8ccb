// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSQL

/// What is known of the table of all leaves of a collection when a query is compiled.
///
/// The table has a row for each leaf of each document: the number of the path at which it stands,
/// its value as ``WildcardIndexValue`` makes it, and the document's row id.
struct WildcardIndexMetadata {
  /// The name of the table.
  var table: String
  /// The numbers of all paths at which values of a field may stand.
  var attributes: (FieldPath) -> [Int32]
  /// Every path at which leaves stand.
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
