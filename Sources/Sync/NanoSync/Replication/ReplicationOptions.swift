// SPDX-License-Identifier: MIT

/// The parameters of a replication of one database.
package struct ReplicationOptions: Sendable {
  package var isContinuous = false
  package var pulls = true
  package var pushes = true
  package var pullFilter = PeerFilter.all
  /// Which live documents are pushed. Deletions are, since the deleted content is unknown.
  package var pushFilter: PushFilter?
  /// Returns the filter at the beginning of each attempt, instead of `pushFilter`.
  package var makePushFilter: (@Sendable (SyncDatabase) throws -> PushFilter)?
  package var rules = ConflictRules()
  /// Whether a database that does not exist at the peer is created.
  package var createsDatabase = true
  /// The number of changes in a batch.
  package var batchDocuments = 2_000
  /// The number of bytes of documents in a transaction or a request, beyond which it has no more.
  package var batchBytes = 4 << 20
  /// The number of requests in flight.
  package var requests = 4

  package init() {}
}
