// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL
import Synchronization

/// A cache of collection metadata, shared by all connections of one engine. Entries may be out of date:
/// compare the generation of an entry with that of the snapshot.
final class PostgresCollectionCache: Sendable {
  private let collections = Mutex<[ExactName: PostgresCollection]>([:])
  private let missing = Mutex<Set<ExactName>>([])
  private let catalogs = Mutex<[ExactName: [CachedPaths]]>([:])

  // @unchecked: a trie has one user at a time; it is removed from the cache while in use.
  /// A path catalog, cached for the next writer.
  private struct CachedPaths: @unchecked Sendable {
    var trie: PathTrie
    var incarnation: Int64
    var generation: Int64
  }

  subscript(folded: ExactName) -> PostgresCollection? {
    collections.withLock { $0[folded] }
  }

  /// Whether a transaction recently found no collection with this name.
  func isMissing(_ folded: ExactName) -> Bool { missing.withLock { $0.contains(folded) } }

  func noteMissing(_ folded: ExactName) {
    invalidate(folded)
    missing.withLock { missing in
      if missing.count >= Self.maximumMissing { missing.removeAll() }
      missing.insert(folded)
    }
  }

  /// Arbitrary.
  private static let maximumMissing = 100

  func store(_ collection: PostgresCollection) {
    missing.withLock { _ = $0.remove(collection.folded) }
    collections.withLock { $0[collection.folded] = collection }
  }

  func invalidate(_ folded: ExactName) {
    missing.withLock { _ = $0.remove(folded) }
    collections.withLock { _ = $0.removeValue(forKey: folded) }
    catalogs.withLock { _ = $0.removeValue(forKey: folded) }
  }

  /// The number of path catalogs that are kept for concurrent writers of one collection. Arbitrary; more than most
  /// programs have.
  private static let maximumCatalogs = 16

  /// Removes and returns a path catalog of a collection, for one writer to modify.
  func checkOutPaths(of collection: PostgresCollection) -> PathTrie {
    let cached = catalogs.withLock { catalogs -> CachedPaths? in
      let cached = catalogs[collection.folded]?.popLast()
      guard cached?.incarnation == collection.incarnation,
        cached?.generation == collection.generation
      else {
        // The others are out of date, too.
        catalogs[collection.folded] = nil
        return nil
      }
      return cached
    }
    return cached?.trie ?? collection.paths.copy()
  }

  /// Stores a path catalog for the next writer.
  ///
  /// - Parameter generation: The generation that was committed with the added paths.
  func checkInPaths(_ trie: PathTrie, of collection: PostgresCollection, generation: Int64) {
    let cached = CachedPaths(
      trie: trie, incarnation: collection.incarnation, generation: generation)
    catalogs.withLock { catalogs in
      if catalogs[collection.folded]?.last?.generation != generation
        || catalogs[collection.folded]?.last?.incarnation != collection.incarnation
      {
        catalogs[collection.folded] = [cached]
      } else if catalogs[collection.folded]?.count ?? 0 < Self.maximumCatalogs {
        catalogs[collection.folded]?.append(cached)
      }
    }
  }
}
