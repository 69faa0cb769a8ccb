// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A query on an encrypted collection, split into a query of the inner engine and the rest, which is evaluated
/// on decrypted documents.
struct EncryptedQuery {
  let collection: String
  /// The query of the inner engine. Includes the page if nothing is evaluated on decrypted documents.
  let inner: Query
  /// The condition on decrypted documents; `nil` if there is none.
  let program: ConditionMatcher?
  /// The sort order of decrypted documents; empty if the inner engine sorts them.
  let orderings: [Ordering]
  /// The page, if the inner engine does not apply it.
  let limit: Int?
  let offset: Int
  let after: PagePosition?
  let defaults: FieldDefaults?
  /// Whether the caller reads no fields.
  let omitsFields: Bool

  /// Whether the inner engine evaluates the query entirely.
  var isExact: Bool { program == nil && orderings.isEmpty }
}

extension EncryptedReader {
  /// Returns `nil` if the documents of the collection are not encrypted.
  func encryptedQuery(_ query: Query, _ collection: String) throws -> EncryptedQuery? {
    guard ring.encrypts(collection) else { return nil }
    guard var query = try resolved(query, collection) else { return nil }
    query.ranking = nil
    // The inner engine cannot read the related documents.
    query = try readingRelated(query)
    let defaults = FieldDefaults(try settings(of: collection).defaults)
    let split = EncryptedCondition(
      query.condition, try hashes(query.condition, collection, defaults))
    let program =
      split.isExact ? nil : try ConditionMatcher(query.condition, defaults: defaults)
    let isSortedByInnerEngine = query.orderings.allSatisfy(\.usesOnlyRowColumns)
    let isExact = split.isExact && isSortedByInnerEngine
    var inner = Query(split.superset)
    inner.fields = query.fields == [] && program == nil && isSortedByInnerEngine ? [] : nil
    if isSortedByInnerEngine {
      inner.orderings = query.orderings
      inner.after = query.after
    }
    if isExact { (inner.limit, inner.offset) = (query.limit, query.offset) }
    return EncryptedQuery(
      collection: collection, inner: inner, program: program,
      orderings: isSortedByInnerEngine ? [] : query.orderings, limit: isExact ? nil : query.limit,
      offset: isExact ? 0 : query.offset, after: isSortedByInnerEngine ? nil : query.after,
      defaults: defaults, omitsFields: query.fields == [])
  }

  /// Resolves searches. Encrypted texts have no full-text index. Returns `nil` for a collection that does not
  /// exist: it is empty for every query, and the inner engine reports that.
  private func resolved(_ query: Query, _ collection: String) throws -> Query? {
    do { return try query.resolvingSearches(in: []) } catch {
      let name = collection.folded
      guard try inner.collections().contains(where: { $0.name.folded == name }) else {
        return nil
      }
      throw error
    }
  }

  /// Returns the hash functions for paths with a blind index.
  private func hashes(
    _ condition: Condition, _ collection: String, _ defaults: FieldDefaults?
  ) throws -> (FieldPath) -> (field: FieldPath, hash: (DocumentValue) -> String)? {
    guard !condition.fields.isEmpty, let blind = try blindIndexes(of: collection),
      let key = ring.keys[blind.keyNumber]
    else { return { _ in nil } }
    let name = Array(collection.foldingASCII.utf8)
    return { path in
      // Documents without the field have no hash of the default.
      guard let field = blind.field(path), defaults?.reaches(path) != true else { return nil }
      return (field.hashed, { field.hash($0, name, key) })
    }
  }

  func find(
    _ encryptedQuery: EncryptedQuery, isOrdered: Bool, _ show: (StoredDocument) throws -> Bool
  ) throws {
    if encryptedQuery.orderings.isEmpty {
      return try stream(encryptedQuery, isOrdered: isOrdered, show)
    }
    let decryptor = DocumentDecryptor(ring, encryptedQuery.collection)
    for rowID in try sorted(encryptedQuery) {
      var shouldContinue = true
      try inner.get(.rowID(rowID), in: encryptedQuery.collection) { stored in
        shouldContinue =
          encryptedQuery.omitsFields
          ? try Self.withoutFields(stored, show)
          : try decrypt(stored, decryptor, in: encryptedQuery.collection, show)
      }
      if !shouldContinue { return }
    }
  }

  /// Passes documents to a closure as they are decrypted, without keeping them.
  private func stream(
    _ encryptedQuery: EncryptedQuery, isOrdered: Bool, _ show: (StoredDocument) throws -> Bool
  ) throws {
    var remaining = (skips: encryptedQuery.offset, results: encryptedQuery.limit ?? .max)
    guard remaining.results > 0 else { return }
    try matches(encryptedQuery, isOrdered: isOrdered) { stored in
      if remaining.skips > 0 {
        remaining.skips -= 1
        return true
      }
      remaining.results -= 1
      return try show(stored) && remaining.results > 0
    }
  }

  /// Passes matching documents to a closure. Applies the page only if the inner engine does.
  private func matches(
    _ encryptedQuery: EncryptedQuery, isOrdered: Bool, _ show: (StoredDocument) throws -> Bool
  ) throws {
    let decryptor = DocumentDecryptor(ring, encryptedQuery.collection)
    func match(_ stored: StoredDocument) throws -> Bool {
      if encryptedQuery.inner.fields != nil { return try Self.withoutFields(stored, show) }
      return try decrypt(stored, decryptor, in: encryptedQuery.collection) { stored in
        if let program = encryptedQuery.program {
          guard try program.holds(for: stored.body, { stored.value(of: $0) }) else { return true }
        }
        return try show(stored)
      }
    }
    if isOrdered {
      try inner.find(encryptedQuery.inner, in: encryptedQuery.collection, match)
    } else {
      try inner.findInAnyOrder(encryptedQuery.inner, in: encryptedQuery.collection, match)
    }
  }

  private static func withoutFields(
    _ stored: StoredDocument, _ show: (StoredDocument) throws -> Bool
  ) throws -> Bool {
    let empty: StaticString = "{}"
    var stored = stored
    stored.body = UnsafeRawBufferPointer(start: empty.utf8Start, count: 2)
    return try show(stored)
  }

  /// Returns the row IDs of a page in order. Only sort keys are kept for each document.
  private func sorted(_ encryptedQuery: EncryptedQuery) throws -> [Int64] {
    let programs = encryptedQuery.orderings.map {
      CompiledOrdering($0, defaults: encryptedQuery.defaults)
    }
    var rows: [SortedRow] = []
    let after = encryptedQuery.after.map { SortedRow($0, encryptedQuery.orderings) }
    try matches(encryptedQuery, isOrdered: false) { stored in
      var values: [DocumentValue] = []
      for program in programs {
        values.append(try program.value(stored.body) { stored.value(of: $0) })
      }
      let row = SortedRow(
        PagePosition(values: values, rowID: stored.rowID), encryptedQuery.orderings)
      if after.map({ $0 < row }) ?? true { rows.append(row) }
      return true
    }
    rows.sort()
    let page = rows.dropFirst(encryptedQuery.offset)
    return page.prefix(encryptedQuery.limit ?? page.count).map(\.rowID)
  }
}

/// The sort key of a document.
private struct SortedRow: Comparable {
  let key: [UInt8]
  let rowID: Int64

  init(_ position: PagePosition, _ orderings: [Ordering]) {
    var key: [UInt8] = []
    for (ordering, value) in zip(orderings, position.values) {
      let start = key.count
      SortKey.append(value, to: &key)
      // With the terminator, no key is a prefix of another one, so inverting the bytes inverts the order:
      // where a longer key continues after a shorter one, it does so with a greater byte.
      key.append(0)
      if ordering.descending { for index in start..<key.count { key[index] = ~key[index] } }
    }
    self.key = key
    rowID = position.rowID
  }

  static func < (a: SortedRow, b: SortedRow) -> Bool {
    if a.key == b.key { return a.rowID < b.rowID }
    return a.key.lexicographicallyPrecedes(b.key)
  }
}
