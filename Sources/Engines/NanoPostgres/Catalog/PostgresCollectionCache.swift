// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL
import Synchronization

/// A cache of collection metadata, shared by all connections of one engine. Entries may be out of date:
/// compare the generation of an entry with that of the snapshot.
final class PostgresCollectionCache: Sendable {
  private let collections = Mutex<[ExactName: PostgresCollection]>([:])
  private let catalogs = Mutex<[ExactName: CachedPaths]>([:])

  // @unchecked: a trie has one user at a time; it is removed from the cache while in use.
  /// A writer's path catalog, cached for the next writer.
  private struct CachedPaths: @unchecked Sendable {
    var trie: PathTrie
    var incarnation: Int64
    var generation: Int64
  }

  subscript(folded: ExactName) -> PostgresCollection? {
    collections.withLock { $0[folded] }
  }

  func store(_ collection: PostgresCollection) {
    collections.withLock { $0[collection.folded] = collection }
  }

  func invalidate(_ folded: ExactName) {
    collections.withLock { _ = $0.removeValue(forKey: folded) }
    catalogs.withLock { _ = $0.removeValue(forKey: folded) }
  }

  /// Removes and returns the path catalog of a collection, for the collection's one writer to modify.
  func checkOutPaths(of collection: PostgresCollection) -> PathTrie {
    let cached = catalogs.withLock { $0.removeValue(forKey: collection.folded) }
    if let cached, cached.incarnation == collection.incarnation,
      cached.generation == collection.generation
    {
      return cached.trie
    }
    return collection.paths.copy()
  }

  /// Stores a path catalog for the next writer.
  ///
  /// - Parameter generation: The generation that was committed with the added paths.
  func checkInPaths(_ trie: PathTrie, of collection: PostgresCollection, generation: Int64) {
    let cached = CachedPaths(
      trie: trie, incarnation: collection.incarnation, generation: generation)
    catalogs.withLock { $0[collection.folded] = cached }
  }
}
