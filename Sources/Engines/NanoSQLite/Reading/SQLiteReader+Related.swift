// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension SQLiteReader {
  /// Prepares a query with conditions on related documents: SQLite joins those that it can decide exactly; for the
  /// others, the values of the related documents are read now, in the same transaction.
  @inline(__always)
  func joining(
    _ query: Query, _ table: CollectionTable, isRemoval: Bool = false
  ) throws -> Query {
    query.hasRelated ? try joiningRelated(query, table, isRemoval) : query
  }

  private func joiningRelated(
    _ query: Query, _ table: CollectionTable, _ isRemoval: Bool
  ) throws -> Query {
    // Ranked documents are checked one by one, each by a statement that would join again. A large deletion takes
    // several statements, and a later one must not see what an earlier one has deleted.
    let own = table.description.name.folded
    let readsItself = query.relatedCollections.contains { $0.text.folded == own }
    guard query.ranking == nil, !(isRemoval && readsItself) else {
      return try readingRelated(query)
    }
    let related = try relatedMetadata(query)
    table.related = related
    let compiler = ConditionCompiler(metadata: table.metadata)
    let resolved = try readingRelated(query) {
      compiler.split($0).rest?.hasUnreadRelated != true
    }
    // Reading related documents of the same collection may have replaced them.
    table.related = related
    return resolved
  }

  /// Returns the metadata of the collections of related documents that exist and can be joined. Those in which
  /// documents expire cannot: reading them leaves out what has expired.
  private func relatedMetadata(_ query: Query) throws -> [ExactName: CollectionMetadata] {
    var found: [ExactName: CollectionMetadata] = [:]
    for name in query.relatedCollections.sorted() {
      guard let table = try connection.tableForQuery(name.text), table.expiry == nil else {
        continue
      }
      try prepareForQuery(table)
      var metadata = table.metadata
      metadata.related = [:]
      metadata.sqlNames = table.sqlNames
      found[name] = metadata
    }
    return found
  }
}
