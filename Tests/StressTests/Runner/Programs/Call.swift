// SPDX-License-Identifier: MIT

import NanoStore

/// One call of a random program, as a value that can be executed on any store, shrunk and printed.
indirect enum Call: Sendable {
  // Writes
  case insert(String, DocumentObject, key: String?)
  case save(String, DocumentObject, key: String?)
  case saveTyped(String, DocumentObject, key: String?, type: String, version: Int64?)
  case saveText(String, String, key: String)
  case saveObject(String, Figure)
  case insertDocument(String, Keyed)
  case insertAll(String, [DocumentObject])
  case writeAll(String, WriteMode, [Keyed])
  case edit(String, Target, [FieldChange], replacing: Bool)
  case update(String, Target, [FieldChange])
  case updateFound(String, Query, [FieldChange])
  case remove(String, Target)
  case removeKeys(String, [String])
  case removeFound(String, Query)
  case removeAll(String)

  // Queries
  case get(String, Target)
  case getAll(String, [String])
  case find(String, Query)
  case findText(String, String, [DocumentValue])
  case select(String, Query, [FieldPath])
  case pages(String, Query, size: Int)
  case aggregate(String, AggregateQuery)
  case distinct(String, FieldPath, Query)
  case summary(String, FieldPath, Query)
  case columns(String, Query)
  case decoded(String, String)
  case search(String, Search)
  case ranked(String, FullTextQuery, index: String)
  case sql(String, condition: String)
  case metadataSummary(String)
  /// All metadata and the collections of the store.
  case names

  // Collections
  case create(String, CollectionIdentity)
  case drop(String)
  case index(String, IndexDefinition)
  case indexKeys(String, String)
  case indexPaths(String, [String])
  case textIndex(String, FullTextIndexDefinition)
  case dropIndex(String, String)
  case dropIndexes(String)
  case rebuild(String)
  case indexing(String, IndexingPolicy)
  case defaults(String, DocumentObject)
  case aliases(String, [String: String])
  case queryable(String, String)
  case setup(String, CollectionSetup)

  // The store
  case metadata(String, DocumentValue?)
  case write([Call], fails: Bool)
  case read([Call])
  case enqueue(String, [Call])
  case awaiting(Call)
  case interval(Int, shown: Bool)
  case flush(discarding: Bool)
  case cache(String, Int)
  case tune
  case compact
  case verify
  case statistics
  case reopen
  case restart
  case backup(opening: Bool)

  // Attachments, expiration, change feeds and live queries. Seconds are relative to the start of the program.
  case attach(String, String, name: String, bytes: Int)
  case renameAttachment(String, String, name: String, to: String)
  case removeAttachment(String, String, name: String)
  case attachments(String, String)
  case expire(String, Target, seconds: Int?)
  case expirationRule(String, ExpirationRule?)
  case expiration(String, Target)
  /// The expirations of all documents.
  case expirations(String)
  case advance(seconds: Int)
  case deleteExpired
  case track(String, ChangeTracking)
  case feed(String)
  case observe(String, Query)

  // Bags. A number is an index into the bags of the program, modulo their count.
  case newBag(name: String?)
  case bagNamed(String)
  case addToBag(Int, String, DocumentObject)
  case addMember(Int, String, String)
  case addBag(Int, Int)
  case removeFromBag(Int, String)
  case removeBagFromBag(Int, Int)
  case clearBag(Int)
  case renameBag(Int, String?)
  case undoBag(Int)
  case saveBag(Int)
  case reloadBag(Int)
  case inflateBag(Int, Bool)
  case copyBag(Int)
  case dropBag(Int)
  case bag(Int)
  case findInBag(Int, Query)
  case searchBag(Int, Search)
  case bags(containing: String)
  case everyBag

  /// Identifies a document.
  enum Target: Sendable {
    case key(String)
    case rowID(Int64)
  }

  /// A document and its key.
  struct Keyed: Sendable {
    var object: DocumentObject
    var key: String?
  }
}

extension Call {
  /// Whether the call cannot fail outside of a transaction, unless a unique index rejects buffered saves.
  var alwaysSucceeds: Bool {
    switch self {
    case .awaiting(let call): call.alwaysSucceeds
    case .find(_, let query): query == Query()
    case .metadataSummary, .names, .interval, .flush, .cache, .tune, .compact, .verify, .statistics,
      .reopen, .restart, .backup, .advance, .deleteExpired, .track, .feed, .observe,
      .expirations:
      true
    default: false
    }
  }
}

/// A custom type.
struct Figure: StorableObject, Codable, Sendable {
  var id: String
  var name: String
  var list: [Int]
  var storedKey: String? { id }
}
