// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine
import NanoQuery

/// What is known of a collection when a query is compiled.
public struct CollectionFacts {
  public var table: String
  public var indexes: [IndexDefinition]
  /// The side tables of indexes on elements, by index name.
  public var elementTables: [String: String]
  /// Whether the database compares texts by code point; if not, it can only find equal ones.
  public var ordersText: Bool
  /// The table of all leaves; nil if the collection has none.
  public var leaves: LeafIndexFacts?
  /// What stands at a path; nil if that is not known.
  public var observed: (FieldPath) -> PathFacts?

  public init(
    table: String, indexes: [IndexDefinition], elementTables: [String: String],
    ordersText: Bool = true, leaves: LeafIndexFacts? = nil,
    observed: @escaping (FieldPath) -> PathFacts?
  ) {
    self.table = table
    self.indexes = indexes
    self.elementTables = elementTables
    self.ordersText = ordersText
    self.leaves = leaves
    self.observed = observed
  }

  /// Whether some index has an entry under this field.
  func isIndexed(_ path: FieldPath) -> Bool {
    indexes.contains { $0.kind == .fields && $0.columns.contains { $0.path == path } }
  }

  /// The class of values at a path, if SQLite sorts all of them as we do.
  func sortableClass(_ path: FieldPath) -> PathFacts.PlainClass? {
    let found = observed(path)?.plainClass
    return found == .text && !ordersText ? nil : found
  }

  func elementTable(for path: FieldPath) -> String? {
    indexes.first { $0.kind == .elements && $0.columns[0].path == path }
      .flatMap { elementTables[$0.name] }
  }
}
