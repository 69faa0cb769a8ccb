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
  let places: Result<[(place: PropertyLocation, descending: Bool)], StoreError>
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
    places = Result { () throws(StoreError) in
      var places: [(place: PropertyLocation, descending: Bool)] = []
      for ordering in orderings { places.append((try ordering.place.get(), ordering.descending)) }
      return places
    }
  }

  /// The index over the fields of documents.
  var definition: IndexDefinition {
    get throws(StoreError) {
      let places = try places.get()
      return IndexDefinition(
        columns: places.map { IndexDefinition.Column($0.place.path, descending: $0.descending) },
        isUnique: isUnique, kind: places.count == 1 && places[0].place.isList ? .elements : .fields)
    }
  }
}
