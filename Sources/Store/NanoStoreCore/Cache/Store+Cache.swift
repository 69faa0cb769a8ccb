// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine

extension Store {
  /// The ``DocumentCollection/cacheSize`` of every collection that was given none: -1, no cache, unless
  /// it is set.
  public var defaultCacheSize: Int {
    get { cache.defaultSize }
    set { cache.defaultSize = newValue }
  }

  /// Bytes of memory that the caches of all collections may take, beside what the program holds
  /// itself: 64 MiB, unless it is set. What was used longest ago goes first.
  public var cacheLimit: Int {
    get { cache.limitBytes }
    set { cache.limitBytes = newValue }
  }

  /// What the caches of all collections keep at this moment.
  public var cacheUse: CacheUse { cache.use }

  /// Lets go of all cached documents that the program does not hold. On Apple's systems this happens by
  /// itself when memory is short; elsewhere the program may call it.
  public func flushCache() { cache.flush() }

  /// Whether a document that this store handed out is still what stands in the database, so that
  /// what was made from it need not be made again.
  ///
  /// ```swift
  /// people.cacheSize = 100
  /// let ada = try people.get("ada")!
  /// store.isCurrent(ada)                                  // true
  /// try people.update("ada", set: ["born": 1815])
  /// store.isCurrent(ada)                                  // false
  /// ```
  ///
  /// It costs a look at the row, so that writes of other stores and processes count too. False for a
  /// document that was changed, that comes from elsewhere, a write or a collection without cache
  /// included, whose row another program wrote last, and if the database cannot be asked.
  public func isCurrent(_ document: Document) -> Bool {
    guard let collection = document.collection, let rowID = document.rowID,
      let cache = cache[collection],
      let known = cache.withContents({ $0.version(of: document, rowID) })
    else { return false }
    let found = try? self[collection].reading(.snapshot) { reader in
      // The state is known once something was read.
      (
        version: try reader.version(ofRow: rowID, in: collection),
        state: try reader.committedState()
      )
    }
    guard found?.version != known else { return true }
    // What a transaction has changed may be undone.
    if found?.state != nil { cache.withContents { $0.forget(document, rowID) } }
    return false
  }
  public func isCurrent(_ document: Document) async -> Bool {
    (try? await onReader { self.isCurrent(document) }) ?? false
  }
}

/// What caches keep.
public struct CacheUse: Sendable, Hashable {
  /// Documents that are kept whether the program holds them or not.
  public var documents: Int
  /// Bytes of memory that they take.
  public var bytes: Int
  package init(documents: Int = 0, bytes: Int = 0) {
    self.documents = documents
    self.bytes = bytes
  }
}

extension DocumentCollection {
  /// How many documents the store keeps in memory when the program does not hold them any more; those
  /// used longest ago go first.
  ///
  /// With 0 only documents that the program holds are known: asking for the same content again gives
  /// the same document. With -1, unless ``Store/defaultCacheSize`` says otherwise, none are. Setting
  /// it counts for this store until it is closed for good, and is not kept in the file.
  ///
  /// A cached document is never out of date: what was written meanwhile, by whomever, is read anew.
  /// ``get(_:)-(String)``, ``DocumentQuery/fetch()`` and pages use the cache; chosen fields, streams
  /// and typed values do not.
  public var cacheSize: Int {
    get { store.cache.size(name) }
    nonmutating set { store.cache.setSize(newValue, name) }
  }

  /// Lets go of cached documents of this collection that the program does not hold.
  public func flushCache() { store.cache[name]?.withContents { $0.flush() } }
}
