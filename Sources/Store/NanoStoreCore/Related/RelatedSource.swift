// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
public import NanoQuery

/// Documents that a query can include as related ones: a collection, a query, or a query that itself includes related
/// documents.
public protocol RelatedSource: Sendable {
  /// The query for the documents, and for those that are related to them.
  var includingQuery: IncludingQuery { get }
}

extension DocumentCollection: RelatedSource {
  /// A query for all documents of the collection.
  public var includingQuery: IncludingQuery { IncludingQuery(find()) }
}

extension DocumentQuery: RelatedSource {
  /// The query, without related documents.
  public var includingQuery: IncludingQuery { IncludingQuery(self) }
}

extension RelatedSource {
  /// Returns a query whose results include related documents of another collection.
  ///
  /// ```swift
  /// let films = try store["films"].find("[year] > 1970")
  ///   .including("directorID", from: people, as: "director")
  ///   .including(.key, from: reviews.find().sorted(by: "-stars").limit(3), by: "filmID", as: "reviews")
  /// for film in try films.fetch() {
  ///   print(film["title"], film.one("director")?["name"], film.many("reviews").count)
  /// }
  /// ```
  ///
  /// Documents are related if a value of one equals a value of the other. One query reads the related documents of many
  /// results, from the same snapshot as the results. The condition and order of the source apply to the related
  /// documents, and its limit and offset apply to each result separately. Without an order, documents that an array
  /// refers to by key or row ID are in the order of the array, and others in that of their row IDs. A reference to a document that does
  /// not exist, or that does not satisfy the condition, includes nothing.
  ///
  /// - Parameters:
  ///   - local: What identifies the related documents in the results. Each element of an array counts.
  ///   - source: The related documents. Queries with a full-text ranking or a page position are not supported.
  ///   - remote: What it is compared with in the related documents.
  ///   - name: The name under which results have the related documents; by default, the path of the local field. In
  ///     decoded values, they are the value of the field of this name.
  public func including(
    _ local: RelationKey, from source: some RelatedSource, by remote: RelationKey = .key,
    as name: String? = nil
  ) -> IncludingQuery {
    including(local, from: source, by: remote, as: name, remoteForms: nil)
  }

  /// Returns a query whose results include related documents, which have the local values in other forms; for layers
  /// whose types are stored differently in keys and in fields.
  ///
  /// - Parameter check: Throws, whenever the query is executed, if the values of both sides cannot be compared.
  package func including(
    _ local: RelationKey, from source: some RelatedSource, by remote: RelationKey,
    as name: String?, remoteForms: (@Sendable (DocumentValue) -> [DocumentValue])?,
    check: (@Sendable (any EngineReader) throws -> Void)? = nil
  ) -> IncludingQuery {
    var query = includingQuery
    query.inclusions.append(
      Inclusion(
        local: local, source: source.includingQuery, remote: remote, name: name,
        remoteForms: remoteForms, check: check))
    return query
  }
}

extension Field {
  /// Returns the documents of a collection that the field refers to, for writing conditions.
  ///
  /// ```swift
  /// films.find(Field("directorID").related(in: people)["country"] == "UK")
  /// ```
  ///
  /// The condition keeps only the name of the collection, which a query looks up in its own store.
  public func related(in collection: DocumentCollection, by remote: RelationKey = .key) -> Related {
    related(in: collection.name, by: remote)
  }
}

extension Related {
  /// Describes related documents of a collection, for writing conditions.
  ///
  /// ```swift
  /// films.find(Related(.key, in: reviews, by: "filmID").count > 2)
  /// ```
  ///
  /// The condition keeps only the name of the collection, which a query looks up in its own store.
  public init(
    _ local: RelationKey, in collection: DocumentCollection, by remote: RelationKey = .key
  ) {
    self.init(local, in: collection.name, by: remote)
  }
}
