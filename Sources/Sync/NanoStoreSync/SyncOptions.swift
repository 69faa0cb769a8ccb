// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoQuery
public import NanoSync

/// The options of a synchronization.
public struct SyncOptions: Sendable {
  /// Which documents are pulled; nil for all. The server applies it.
  public var pullFilter: PullFilter?
  /// A condition on the documents that are pushed; nil for all. Deletions are always pushed.
  ///
  /// It selects what a query with it finds. It cannot use related documents, full-text search, row IDs and dates of
  /// insertion.
  public var pushFilter: Condition?
  /// How conflicts are resolved, by collection.
  public var rules: [String: ConflictRules] = [:]
  /// The rules of collections that ``rules`` does not name.
  public var defaultRules = ConflictRules()
  /// The name of the database for a collection, if it is another one.
  public var databaseNames: [String: String] = [:]
  /// Whether databases that do not exist at the other side, or collections of the other store, are created by a push.
  public var createsDatabases = true
  /// The number of changes that are transferred between two checkpoints.
  public var batchDocuments = 2_000
  /// The number of bytes of documents in one transaction and one request.
  public var batchBytes = 4 << 20
  /// The number of requests in flight per collection and direction.
  public var requests = 4

  /// Creates the default options.
  public init() {}

  /// Selects the documents to be pulled.
  public enum PullFilter: Sendable, Hashable {
    /// Those with these keys.
    case keys([String])
    /// Those that match a selector of CouchDB (Mango), such as `["year": ["$gt": 1980]]`.
    ///
    /// A deletion that has no fields left does not match, so deletions are not received. Dates, data, URLs and decimals
    /// are compared as the objects that they are in JSON, such as `{"$date": "2026-11-25T08:00:00.000Z"}`.
    case selector(DocumentObject)
  }

  /// - Throws: ``/NanoDocument/StoreError/Code/invalidArgument``.
  func validate() throws(StoreError) {
    for (name, value) in [
      ("batchDocuments", batchDocuments), ("batchBytes", batchBytes), ("requests", requests),
    ] where value < 1 {
      throw StoreError(
        .invalidArgument, "\(name) must be at least 1", [.actual: "\(value)"])
    }
  }
}
