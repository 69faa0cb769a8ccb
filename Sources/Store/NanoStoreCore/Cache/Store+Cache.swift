// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension Store {
  /// The ``DocumentCollection/cacheSize`` of collections that have none of their own; nil, the
  /// default, for no cache.
  public var defaultCacheSize: Int? {
    get { cache.defaultSize }
    set { cache.defaultSize = newValue }
  }

  /// The memory limit of all document caches, in bytes.
  ///
  /// Documents that the program itself retains do not count.
  ///
  /// The default is 64 MiB. The least recently used documents are evicted first.
  public var cacheLimit: Int {
    get { cache.limitBytes }
    set { cache.limitBytes = newValue }
  }

  /// The current contents of the caches of all collections.
  public var cacheUse: CacheUse { cache.use }

  /// Releases all cached documents that the program does not retain.
  ///
  /// On Apple platforms this happens automatically under memory pressure; on others, call it
  /// yourself.
  public func flushCache() { cache.flush() }

  /// Returns whether a document is still current in the database.
  ///
  /// If it is, values derived from it need not be recomputed.
  ///
  /// ```swift
  /// people.cacheSize = 100
  /// let ada = try people.get("ada")!
  /// store.isCurrent(ada)                                  // true
  /// try people.update("ada", set: ["born": 1815])
  /// store.isCurrent(ada)                                  // false
  /// ```
  ///
  /// It reads the version of the row, so writes by other stores and processes are taken into
  /// account. The result is false for a document that was modified, for one that does not come from
  /// a read of a cached collection of this store, for one whose row another program wrote last, and
  /// if the database cannot be read.
  public func isCurrent(_ document: Document) -> Bool {
    guard let collection = document.collection, let rowID = document.rowID,
      let cache = cache[collection],
      let known = cache.withContents({ $0.version(of: document, rowID) })
    else { return false }
    let found = try? DocumentCollection(store: self, name: collection).reading(.snapshot) {
      reader in
      // The state is available once something was read.
      (
        version: try reader.version(ofRow: rowID, in: collection),
        state: try reader.committedState()
      )
    }
    guard found?.version != known else { return true }
    // Changes of a transaction may still be rolled back.
    if found?.state != nil { cache.withContents { $0.forget(document, rowID) } }
    return false
  }
  /// The asynchronous form of `isCurrent(_:)`, which does not block the calling thread.
  public func isCurrent(_ document: Document) async -> Bool {
    (try? await onReader { self.isCurrent(document) }) ?? false
  }
}

/// The contents of the document caches.
public struct CacheUse: Sendable, Hashable {
  /// The number of documents that the caches retain, whether the program retains them or not.
  public var documents: Int
  /// The memory that they occupy, in bytes.
  public var bytes: Int
  /// Creates a value from its parts.
  package init(documents: Int = 0, bytes: Int = 0) {
    self.documents = documents
    self.bytes = bytes
  }
}

extension DocumentCollection {
  /// The number of documents that the store keeps in memory after the program releases them. The
  /// least recently used are evicted first.
  ///
  /// With 0, only documents that the program retains are tracked: reading unchanged content again
  /// returns the same document. With nil, the default unless ``Store/defaultCacheSize`` is set, or a
  /// negative number, there is no cache. The setting applies to this store object, also after reopening, and is not
  /// stored in the file.
  ///
  /// A cached document is never stale: rows written in the meantime, by any connection, are read
  /// again. ``get(_:)-(String)``, ``DocumentQuery/fetch()`` and pages use the cache; selected
  /// fields, streams and typed values do not.
  public var cacheSize: Int? {
    get { store.cache.size(name) }
    nonmutating set { store.cache.setSize(newValue, name) }
  }

  /// Releases cached documents of this collection that the program does not retain.
  public func flushCache() { store.cache[name]?.withContents { $0.flush() } }
}
