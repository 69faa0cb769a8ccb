// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Queries of collections that are not encrypted, which may have related documents that are.
extension EncryptedReader {
  /// Returns a query that the inner engine can execute: with the values of encrypted related documents.
  func plain(_ query: Query) throws -> Query {
    guard query.hasRelated, query.relatedCollections.contains(where: { ring.encrypts($0.text) })
    else { return query }
    return try readingRelated(query)
  }

  func plain(_ query: AggregateQuery) throws -> AggregateQuery {
    guard query.query.hasRelated else { return query }
    var query = query
    query.query = try plain(query.query)
    return query
  }
}
