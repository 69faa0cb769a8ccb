// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery
public import NanoStoreCore

extension ModelQuery: RelatedSource {
  /// The equivalent query over documents, without related documents.
  public var includingQuery: IncludingQuery { liveQuery.includingQuery }
}

extension ModelCollection: RelatedSource {
  /// A query for all documents of the collection.
  public var includingQuery: IncludingQuery { find().includingQuery }
}

extension ModelQuery {
  /// Returns a query whose results include related documents, to which a property refers.
  ///
  /// ```swift
  /// let films = store[Movie.self].find(\.year > 1970)
  ///   .including(\.directorID, from: store[Director.self], as: "director")
  ///   .including(.key, from: store[Review.self], by: \.filmID, as: "reviews")
  /// for film in try films.fetch() { print(film["title"], film.one("director")?["name"]) }
  /// ```
  ///
  /// The results are documents; `decoded(as:)` returns values of a type with properties for the related documents.
  /// See ``RelatedSource/including(_:from:by:as:)``.
  ///
  /// - Parameters:
  ///   - property: The property with the reference, or with an array of references.
  ///   - source: The related documents.
  ///   - remote: What it is compared with in the related documents.
  ///   - name: The name of the related documents in results; by default, the path of the property's field.
  public func including<Value>(
    _ property: any KeyPath<M, Value> & Sendable, from source: some RelatedSource,
    by remote: RelationKey = .key, as name: String? = nil
  ) -> IncludingQuery {
    switch RelationKey.of(property) {
    case .success(let local): includingQuery.including(local, from: source, by: remote, as: name)
    case .failure(let error): collection.documents.failing(with: error).includingQuery
    }
  }
}

extension RelatedSource {
  /// Returns a query whose results include related values of a model, of which a property refers to the results.
  ///
  /// ```swift
  /// store["films"].find().including(.key, from: store[Review.self].find(\.stars > 3), by: \.filmID, as: "reviews")
  /// ```
  public func including<Target: Model, Value>(
    _ local: RelationKey, from source: ModelQuery<Target>,
    by property: any KeyPath<Target, Value> & Sendable, as name: String? = nil
  ) -> IncludingQuery {
    switch RelationKey.of(property) {
    case .success(let remote): including(local, from: source, by: remote, as: name)
    case .failure(let error): includingQuery.query.collection.failing(with: error).includingQuery
    }
  }

  /// Returns a query whose results include related values of a model, of which a property refers to the results.
  public func including<Target: Model, Value>(
    _ local: RelationKey, from source: ModelCollection<Target>,
    by property: any KeyPath<Target, Value> & Sendable, as name: String? = nil
  ) -> IncludingQuery { including(local, from: source.find(), by: property, as: name) }
}

extension RelationKey {
  fileprivate static func of<M: Model, Value>(
    _ property: any KeyPath<M, Value> & Sendable
  ) -> Result<RelationKey, StoreError> {
    ModelPath<M, Value>(property).location.map { $0.isKey ? .key : .field($0.path) }
  }
}
