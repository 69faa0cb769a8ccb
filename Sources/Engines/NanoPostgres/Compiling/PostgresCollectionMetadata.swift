// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// What is known of a collection when a query is compiled.
struct PostgresCollectionMetadata {
  let collection: PostgresCollection
  let names: PostgresNames
  /// What stands at a path; nil if that is not known.
  let observed: (FieldPath) -> PathSummary?

  init(
    _ collection: PostgresCollection, _ names: PostgresNames,
    observed: ((FieldPath) -> PathSummary?)? = nil
  ) {
    self.collection = collection
    self.names = names
    self.observed = observed ?? { collection.paths.facts(at: $0) }
  }

  /// Whether an index has columns for a field.
  func isIndexed(_ path: FieldPath) -> Bool {
    collection.indexes.contains { index in
      index.definition.kind == .fields && index.definition.columns.contains { $0.path == path }
    }
  }

  /// A field that has one value at most in each document, and what is known of its values.
  struct Single {
    var place: PostgresFieldExpression
    var types: ObservedTypes
  }

  /// Nil where the SQL would not mean what the field means: where arrays are entered, and where values stand
  /// that the server cannot compare as we do.
  func single(_ path: FieldPath) -> Single? {
    guard let known = observed(path), !known.entersArray, !known.types.contains(.irregular),
      !known.types.contains(.url), let place = PostgresFieldExpression(path, names)
    else { return nil }
    return Single(place: place, types: known.types)
  }

  /// As ``single(_:)``, for orders and groups: values that the server sorts as we do.
  func sortable(_ path: FieldPath) -> Single? {
    guard let single = single(path), single.types.isDisjoint(with: [.data, .object, .array, .open])
    else { return nil }
    if let defaults = collection.defaults, defaults.reaches(path) { return nil }
    return single
  }
}
