// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoQuery

/// The documents of a snapshot.
package protocol EngineDocumentReader: AnyObject {
  /// Passes one document to the closure and returns whether it exists.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool
  /// Passes the documents with the given keys to the closure, each once, in any order.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  func get(
    keys: [DocumentKey], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws

  /// Passes the documents with the given row IDs, which are distinct and ascending, to the closure, each once, in any
  /// order.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  func get(
    rowIDs: [Int64], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws

  /// Passes each document that matches the query to the closure, in order, until the closure returns `false`. A
  /// collection that does not exist is treated as empty.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/tooComplex`` for a document on which the query
  ///   cannot be evaluated; ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidPath``,
  ///   ``StoreError/Code/unsupported``, ``StoreError/Code/valueNotStorable`` for the query.
  func find(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws

  /// Like ``find(_:in:_:)``, except that results found by row ID may arrive in any order, for a caller that
  /// keeps them all and sorts them faster than the database would.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func findInAnyOrder(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws

  /// Like ``find(_:in:_:)``, with each document's rank in the query's full-text search; a higher rank is a
  /// better match. The rank is 0 if no token index found the document.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func findRanked(
    _ query: Query, in collection: String, _ visit: (StoredDocument, Double) throws -> Bool
  ) throws

  /// Like ``find(_:in:_:)``, but passes only the parts needed to decode values, which is faster. Without
  /// `withKeys`, every ``StoredContent/key`` is `.none`.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ visit: (StoredContent) throws -> Bool
  ) throws

  /// Returns the largest row ID that any document of the collection has ever had, including deleted ones; 0 if
  /// there never was a document, `nil` if the engine does not track it.
  func highestRowID(in collection: String) throws -> Int64?

  /// Returns the row IDs of a query's results, in order. An engine that finds them in an index does not read the
  /// documents.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult

  /// Returns the version of a row's current content; `nil` if the row does not exist, was written by another
  /// program, or the engine does not track versions.
  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion?

  /// Returns the state that this reader sees, once it has read something; `nil` inside a transaction that may be
  /// rolled back, and if the engine does not track it.
  func committedState() throws -> CommittedState?
  /// Returns the number of documents that match a query, within its limit and offset.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func count(_ query: Query, in collection: String) throws -> Int
  /// Returns the aggregates of a query's results, in the sort order of their groups.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow]

  /// Passes the rows of ``aggregate(_:in:)`` to the closure, one at a time, until the closure returns `false`.
  /// An engine need not hold all of them in memory.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func aggregate(
    _ query: AggregateQuery, in collection: String, _ visit: (AggregateRow) throws -> Bool
  ) throws
  /// Returns the distinct values of a field among the query's results, in sort order.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func distinct(_ field: FieldPath, _ query: Query, in collection: String) throws -> [DocumentValue]
  /// Passes the rows of a pipeline over a query's results to the closure, in order, until the closure returns
  /// `false`.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ visit: (DocumentObject) throws -> Bool
  ) throws
  /// Returns how a query would be executed.
  ///
  /// - Throws: The errors of ``find(_:in:_:)``.
  func explain(_ query: Query, in collection: String) throws -> Explanation
}

extension EngineDocumentReader {
  package func get(
    keys: [DocumentKey], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws {
    for key in Set(keys) { try get(.key(key), in: collection, visit) }
  }

  package func get(
    rowIDs: [Int64], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws {
    for rowID in rowIDs { try get(.rowID(rowID), in: collection, visit) }
  }

  package func findInAnyOrder(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    try find(query, in: collection, visit)
  }

  package func findRanked(
    _ query: Query, in collection: String, _ visit: (StoredDocument, Double) throws -> Bool
  ) throws {
    try find(query, in: collection) { try visit($0, 0) }
  }

  package func highestRowID(in collection: String) throws -> Int64? { nil }

  package func aggregate(
    _ query: AggregateQuery, in collection: String, _ visit: (AggregateRow) throws -> Bool
  ) throws {
    for row in try aggregate(query, in: collection) where try !visit(row) { return }
  }

  package func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ visit: (StoredContent) throws -> Bool
  ) throws {
    try find(query, in: collection) { stored in
      try visit(
        StoredContent(
          key: withKeys ? stored.borrowedKey : .none, version: stored.version, body: stored.body))
    }
  }
}
