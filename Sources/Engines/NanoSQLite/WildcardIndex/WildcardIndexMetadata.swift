// SPDX-License-Identifier: MIT

public import NanoDocument

/// What is known of the table of all leaves of a collection when a query is compiled.
///
/// The table has a row for each leaf of each document: the number of the path at which it stands,
/// its value as ``WildcardIndexValue`` makes it, and the document's row id.
public struct WildcardIndexMetadata {
  /// The name of the table.
  public var table: String
  /// The numbers of all paths at which values of a field may stand.
  public var attributes: (FieldPath) -> [Int32]
  /// Every path at which leaves stand.
  public var all: () -> [WildcardIndexPath]

  public init(
    table: String, attributes: @escaping (FieldPath) -> [Int32],
    all: @escaping () -> [WildcardIndexPath]
  ) {
    self.table = table
    self.attributes = attributes
    self.all = all
  }
}

/// A path at which leaves stand.
public struct WildcardIndexPath: Sendable, Hashable {
  public var number: Int32
  /// The text of the path, in which arrays add nothing; nil where leaves of many paths are kept
  /// together because their names are not.
  public var path: String?

  public init(number: Int32, path: String?) {
    self.number = number
    self.path = path
  }
}
