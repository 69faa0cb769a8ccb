// SPDX-License-Identifier: MIT

public import NanoDocument
package import NanoQuery

extension Search {
  /// Returns the search as a query, without grouping by value.
  public func query(in collection: DocumentCollection) -> DocumentQuery {
    DocumentQuery(collection, query)
  }

  /// The search as a query tree, without grouping by value.
  package var query: Query {
    let cuts = !groupsValues
    let limit = self.limit.flatMap { $0 > 0 ? $0 : nil }
    var query = Query(
      condition,
      orderings: orderings.map {
        Ordering(FieldPath($0.attribute), descending: !$0.ascending)
      }, limit: cuts ? limit : nil, offset: cuts ? offset : 0)
    if !fields.isEmpty, cuts { query.fields = fields.map { FieldPath($0) } }
    return query
  }

  /// Returns the matching documents, sorted and limited.
  ///
  /// - Throws: ``StoreError``, among others ``StoreError/Code/closed``, and
  ///   ``StoreError/Code/invalidArgument`` for a negative offset.
  public func documents(in collection: DocumentCollection) throws -> [Document] {
    guard groupsValues else { return try query(in: collection).fetch() }
    return try grouped(query(in: collection).each)
  }
  /// The asynchronous form of `documents(in:)`, which does not block the calling thread.
  public func documents(in collection: DocumentCollection) async throws -> [Document] {
    try await collection.onReader { try self.documents(in: collection) }
  }

  /// Returns the keys of the matching documents. Documents without a key are skipped.
  public func keys(in collection: DocumentCollection) throws -> [String] {
    guard groupsValues else { return try query(in: collection).keys() }
    return try grouped(query(in: collection).each).compactMap(\.key)
  }
  /// The asynchronous form of `keys(in:)`, which does not block the calling thread.
  public func keys(in collection: DocumentCollection) async throws -> [String] {
    try await collection.onReader { try self.keys(in: collection) }
  }

  /// Returns the number of matching documents, within the limit.
  public func count(in collection: DocumentCollection) throws -> Int {
    guard groupsValues else { return try query(in: collection).count() }
    return try grouped(query(in: collection).each).count
  }
  /// The asynchronous form of `count(in:)`, which does not block the calling thread.
  public func count(in collection: DocumentCollection) async throws -> Int {
    try await collection.onReader { try self.count(in: collection) }
  }

  /// Returns the first document for each distinct value among the matching leaves.
  package func grouped(
    _ each: ((Document) throws -> Void) throws -> Void
  ) throws -> [Document] {
    // The query has no offset, since it does not group.
    try Query(offset: offset).validate()
    var seen: Set<[UInt8]> = []
    var kept: [Document] = []
    try each { document in
      let subject = try Self.subject(document)
      for leaf in subject.leaves() where try matches(leaf, of: subject) {
        guard seen.insert(SortKey.bytes(leaf.value)).inserted else { continue }
        kept.append(document)
        return
      }
    }
    let cut = kept.dropFirst(offset).prefix(limit.flatMap { $0 > 0 ? $0 : nil } ?? kept.count)
    guard !fields.isEmpty else { return Array(cut) }
    return try cut.map { try $0.selecting(fields.map { FieldPath($0) }) }
  }

  private static func subject(_ document: Document) throws -> DocumentSubject {
    DocumentSubject(
      try document.object(), key: document.key.map { .string($0) } ?? .null,
      rowID: document.rowID ?? 0, type: document.type.map { .string($0) } ?? .null,
      version: document.version.map { .int($0) } ?? .null,
      added: document.added.map { .date($0) } ?? .null)
  }

  private func matches(_ leaf: Leaf, of document: DocumentSubject) throws(StoreError) -> Bool {
    let conditions = expressions.isEmpty ? [leafCondition] : expressions.map(\.condition)
    for condition in conditions {
      guard let condition else { return true }
      if try condition.holds(for: leaf, of: document) { return true }
    }
    return false
  }
}
