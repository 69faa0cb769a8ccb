// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Metadata about a collection for compiling queries.
struct PostgresCollectionMetadata {
  let collection: PostgresCollection
  let names: PostgresNames
  /// Returns the summary of the values at a path; `nil` if it is unknown.
  let observed: (FieldPath) -> PathSummary?
  /// The collections of related documents that conditions name.
  var related: [ExactName: PostgresCollectionMetadata] = [:]
  /// The name of the table in the statement, if it is not that of the collection: in a join.
  var alias: String?
  /// The number of joins around the table.
  var depth = 0

  init(
    _ collection: PostgresCollection, _ names: PostgresNames,
    observed: ((FieldPath) -> PathSummary?)? = nil
  ) {
    self.collection = collection
    self.names = names
    self.observed = observed ?? { collection.paths.summary(at: $0) }
  }

  /// Returns whether a field index contains the field.
  func isIndexed(_ path: FieldPath) -> Bool {
    collection.indexes.contains { index in
      index.definition.kind == .fields && index.definition.columns.contains { $0.path == path }
    }
  }

  /// A field with at most one value per document, and the types of its values.
  struct Single {
    var place: PostgresFieldExpression
    var types: ObservedTypes
  }

  /// Returns a field whose SQL expression has the semantics of the field. `nil` if its path enters arrays, or if it has
  /// values that the server cannot compare as NanoStore does.
  func single(_ path: FieldPath) -> Single? {
    guard let summary = observed(path), !summary.entersArray, !summary.types.contains(.irregular),
      !summary.types.contains(.url), let place = PostgresFieldExpression(path, names)
    else { return nil }
    return Single(place: place, types: summary.types)
  }

  /// Like ``single(_:)``, for sorting and grouping: only values that the server sorts as NanoStore does.
  func sortable(_ path: FieldPath) -> Single? {
    guard let single = single(path), single.types.isDisjoint(with: [.data, .object, .array, .open])
    else { return nil }
    if let defaults = collection.defaults, defaults.reaches(path) { return nil }
    return single
  }
}
