// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Metadata about a collection for compiling queries.
struct CollectionMetadata {
  var table: String
  var indexes: [IndexDefinition]
  /// The side tables of element indexes, by index name.
  package var elementTables: [ExactName: String]
  /// Whether the database compares texts by code point. If not, it can only find equal texts.
  var ordersText: Bool
  /// A superset of the attributes that documents have.
  var parts: AttributeUsage
  /// The wildcard index; `nil` if the collection has none.
  var leaves: WildcardIndexMetadata?
  /// The values that queries assume for missing fields.
  var defaults: FieldDefaults?
  var fullTextIndexes: [FullTextIndexMetadata]
  /// Whether there are rows that another program wrote, which neither indexes nor the path catalog cover. They are
  /// read in addition to the rows that an index finds.
  var hasForeignRows: Bool
  /// Returns the summary of the values at a path; `nil` if it is unknown.
  var observed: (FieldPath) -> PathSummary?
  /// The collections of related documents that conditions name.
  var related: [ExactName: CollectionMetadata] = [:]
  /// The name of the table in the statement, if it is not that of the collection: in a join.
  var alias: String?
  /// The number of joins around the table.
  var depth = 0
  /// The names of SQLite's indexes, for the collections of ``related``.
  var sqlNames: [ExactName: String] = [:]

  package init(
    table: String, indexes: [IndexDefinition], elementTables: [ExactName: String],
    ordersText: Bool = true, parts: AttributeUsage = .all, leaves: WildcardIndexMetadata? = nil,
    defaults: FieldDefaults? = nil, fullTextIndexes: [FullTextIndexMetadata] = [],
    hasForeignRows: Bool = false, observed: @escaping (FieldPath) -> PathSummary?
  ) {
    self.table = table
    self.indexes = indexes
    self.elementTables = elementTables
    self.ordersText = ordersText
    self.parts = parts
    self.leaves = leaves
    self.defaults = defaults
    self.fullTextIndexes = fullTextIndexes
    self.hasForeignRows = hasForeignRows
    self.observed = observed
  }

  /// Returns whether a field index contains the field.
  func isIndexed(_ path: FieldPath) -> Bool {
    indexes.contains { $0.kind == .fields && $0.columns.contains { $0.path == path } }
  }

  /// Returns the class of the values at a path if SQLite sorts all of them as NanoStore does; `nil` also if a
  /// default replaces missing values.
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
