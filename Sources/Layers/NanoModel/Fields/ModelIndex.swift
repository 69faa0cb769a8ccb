// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// An index over several properties of a model.
///
/// ```swift
/// @Model struct Person {
///   static let indexes = [ModelIndex<Person>(\.lastName, \.firstName), .unique(\.country, \.number)]
///   …
/// }
/// ```
///
/// The index is created when the program first writes to the collection; see `prepare()` of
/// ``ModelCollection``.
public struct ModelIndex<Root: Model>: Sendable {
  let locations: Result<[(location: PropertyLocation, descending: Bool)], StoreError>
  let isUnique: Bool

  /// Creates an index over properties, most significant first.
  public init(_ keyPaths: any PartialKeyPath<Root> & Sendable...) {
    self.init(keyPaths.map { .forward($0) }, isUnique: false)
  }

  /// Creates an index over properties with sort directions, most significant first.
  public init(_ orderings: ModelOrdering<Root>...) { self.init(orderings, isUnique: false) }

  /// Returns a unique index: no two documents can have the same values of all these properties.
  public static func unique(_ keyPaths: any PartialKeyPath<Root> & Sendable...) -> ModelIndex {
    ModelIndex(keyPaths.map { .forward($0) }, isUnique: true)
  }

  private init(_ orderings: [ModelOrdering<Root>], isUnique: Bool) {
    self.isUnique = isUnique
    locations = Result { () throws(StoreError) in
      var locations: [(location: PropertyLocation, descending: Bool)] = []
      for ordering in orderings {
        locations.append((try ordering.location.get(), ordering.descending))
      }
      return locations
    }
  }

  /// The index over the fields of documents.
  var definition: IndexDefinition {
    get throws(StoreError) {
      let locations = try locations.get()
      guard !locations.contains(where: \.location.isKey) else {
        throw StoreError(
          .unsupported, "An index names the key, which is not stored as a field",
          [
            .collection: Root.collectionName,
            .hint: "remove it from the index: keys have their own",
          ])
      }
      return IndexDefinition(
        columns: locations.map {
          IndexDefinition.Column($0.location.path, descending: $0.descending)
        },
        isUnique: isUnique,
        kind: locations.count == 1 && locations[0].location.isList ? .elements : .fields)
    }
  }
}
