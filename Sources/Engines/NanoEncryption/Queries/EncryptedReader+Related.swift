// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Queries of collections that are not encrypted, which may have related documents that are.
extension EncryptedReader {
  /// Returns a query that the inner engine can execute: with the values of encrypted related documents.
  func plain(_ query: Query) throws -> Query {
    hasEncryptedRelated(query) ? try readingRelated(query) : query
  }

  /// Whether a query depends on encrypted documents of other collections.
  func hasEncryptedRelated(_ query: Query) -> Bool {
    query.relatedCollections.contains { ring.encrypts($0.text) }
  }

  func plain(_ query: AggregateQuery) throws -> AggregateQuery {
    guard query.query.hasRelated else { return query }
    var query = query
    query.query = try plain(query.query)
    return query
  }
}
