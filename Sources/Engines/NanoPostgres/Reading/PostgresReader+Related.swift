// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresReader {
  /// Prepares a query with conditions on related documents: the server joins those that it can decide exactly; for the
  /// others, the values of the related documents are read now, in the same transaction.
  func joining(_ query: Query, in collection: String) throws -> Query {
    guard query.hasRelated else { return query }
    let names = query.relatedCollections.map(\.text)
    try hold([collection] + names)
    // Otherwise, each statement sees a different state, with types that other statements are not prepared for.
    guard seesOneState, !query.isRanked, let found = try self.collection(collection) else {
      return try readingRelated(query)
    }
    var joined: [ExactName: PostgresCollectionMetadata] = [:]
    for name in names.sorted(by: { $0.isBefore($1) }) {
      // Reading documents that may expire leaves out those that have; a join would not.
      if let other = try self.collection(name), !other.hasExpirations {
        joined[name.folded] = collectionMetadata(other)
      }
    }
    var metadata = collectionMetadata(found)
    metadata.related = joined
    let compiler = PostgresConditionCompiler(metadata: metadata)
    let resolved = try readingRelated(query) {
      compiler.split($0).rest?.hasUnreadRelated != true
    }
    // Set last: reading related documents resets it.
    related = joined
    return resolved
  }

  /// The statements that check whether the tables of the joined collections belong to this snapshot.
  var relatedChecks: [PostgresStatement] {
    related.keys.sorted().map { core.loader.checkedRow($0) }
  }
}
