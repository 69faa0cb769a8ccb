// SPDX-License-Identifier: MIT

import NanoDocument

/// The expirations of a snapshot, for engines with ``Capabilities/expiration``.
///
/// Every other call of a reader hides expired documents, whether or not they have been deleted. A block uses one time:
/// that of its first use of a collection with expirations.
package protocol EngineExpiryReader: AnyObject {
  /// Returns the collections in which documents may expire, sorted by name.
  func expiringCollections() throws -> [String]
  /// Returns the expirations of documents, expired or not, in microseconds since 1970, by row ID. Documents that do
  /// not expire are absent.
  func expirations(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: Int64]
  /// Returns the earliest expiration of a stored document after a time, or of all; `nil` if there is none.
  func earliestExpiration(after time: Int64?, in collection: String) throws -> Int64?
}

/// Expirations in a transaction, for engines with ``Capabilities/expiration``.
package protocol EngineExpiryWriter: AnyObject {
  /// What the transaction does with expired documents. Rolling back to a savepoint restores ``ExpiryLog/swept``.
  var expiry: ExpiryLog { get set }
  /// Sets when documents expire, in microseconds since 1970; `nil` for never. Row IDs without a document are ignored.
  ///
  /// Documents with an expiration keep it when they are replaced, unless the collection has a rule
  /// (``CollectionSettings/expiration``), which is applied to each written document.
  ///
  /// - Throws: ``StoreError/Code/unsupported``, ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``.
  func setExpirations(_ times: [(rowID: Int64, time: Int64?)], in collection: String) throws
  /// Deletes expired documents, at most `limit`, adds them to ``expiry``, and returns their number.
  func sweepExpired(limit: Int, from collection: String) throws -> Int
}

extension EngineExpiryReader {
  package func expiringCollections() throws -> [String] { [] }
  package func expirations(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: Int64] {
    [:]
  }
  package func earliestExpiration(after time: Int64?, in collection: String) throws -> Int64? {
    nil
  }
}

extension EngineExpiryWriter {
  package var expiry: ExpiryLog {
    get { ExpiryLog() }
    set {}
  }
  package func setExpirations(
    _ times: [(rowID: Int64, time: Int64?)], in collection: String
  ) throws {
    guard times.contains(where: { $0.time != nil }) else { return }
    throw StoreError(
      .unsupported, "The engine does not support expiration", [.capability: "expiration"])
  }
  package func sweepExpired(limit: Int, from collection: String) throws -> Int { 0 }
}
