// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// What is known of a collection when a query is compiled.
struct CollectionMetadata {
  var table: String
  var indexes: [IndexDefinition]
  /// The side tables of indexes on elements, by index name.
  package var elementTables: [ExactName: String]
  /// Whether the database compares texts by code point; if not, it can only find equal ones.
  var ordersText: Bool
  /// What documents have beside their fields, and perhaps more.
  var parts: AttributeUsage
  /// The table of all leaves; nil if the collection has none.
  var leaves: WildcardIndexMetadata?
  /// What questions take for fields that a document does not have.
  var defaults: FieldDefaults?
  var textIndexes: [FullTextIndexMetadata]
  /// Whether there are rows that another program wrote and that neither indexes nor paths know. They are
  /// read in addition to what an index finds.
  var hasForeignRows: Bool
  /// What stands at a path; nil if that is not known.
  var observed: (FieldPath) -> PathSummary?

  package init(
    table: String, indexes: [IndexDefinition], elementTables: [ExactName: String],
    ordersText: Bool = true, parts: AttributeUsage = .all, leaves: WildcardIndexMetadata? = nil,
    defaults: FieldDefaults? = nil, textIndexes: [FullTextIndexMetadata] = [],
    hasForeignRows: Bool = false, observed: @escaping (FieldPath) -> PathSummary?
  ) {
    self.table = table
    self.indexes = indexes
    self.elementTables = elementTables
    self.ordersText = ordersText
    self.parts = parts
    self.leaves = leaves
    self.defaults = defaults
    self.textIndexes = textIndexes
    self.hasForeignRows = hasForeignRows
    self.observed = observed
  }

  /// Whether some index has an entry under this field.
  func isIndexed(_ path: FieldPath) -> Bool {
    indexes.contains { $0.kind == .fields && $0.columns.contains { $0.path == path } }
  }

  /// The class of values at a path, if SQLite sorts all of them as we do: not where something else
  /// stands for what is missing.
  func sortableClass(_ path: FieldPath) -> PathSummary.PlainClass? {
    if hasForeignRows { return nil }
    if let defaults, defaults.reaches(path) { return nil }
    let found = observed(path)?.plainClass
    return found == .text && !ordersText ? nil : found
  }

  func elementTable(for path: FieldPath) -> String? {
    indexes.first { $0.kind == .elements && $0.columns[0].path == path }
      .flatMap { elementTables[ExactName($0.name)] }
  }
}
