// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL
import Synchronization

/// A cache of collection metadata, shared by all connections of one engine. Entries may be out of date:
/// compare the generation of an entry with that of the snapshot.
final class PostgresCollectionCache: Sendable {
  private let collections = Mutex<[ExactName: PostgresCollection]>([:])
  private let catalogues = Mutex<[ExactName: KeptPaths]>([:])

  // @unchecked: a trie has one user at a time; it is removed from the cache while in use.
  /// A writer's path catalog, kept for the next writer.
  private struct KeptPaths: @unchecked Sendable {
    var trie: PathTrie
    var incarnation: Int64
    var generation: Int64
  }

  subscript(folded: ExactName) -> PostgresCollection? {
    collections.withLock { $0[folded] }
  }

  func keep(_ collection: PostgresCollection) {
    collections.withLock { $0[collection.folded] = collection }
  }

  func forget(_ folded: ExactName) {
    collections.withLock { _ = $0.removeValue(forKey: folded) }
    catalogues.withLock { _ = $0.removeValue(forKey: folded) }
  }

  /// Removes and returns the path catalog of a collection, for the collection's one writer to modify.
  func takePaths(of collection: PostgresCollection) -> PathTrie {
    let kept = catalogues.withLock { $0.removeValue(forKey: collection.folded) }
    if let kept, kept.incarnation == collection.incarnation,
      kept.generation == collection.generation
    {
      return kept.trie
    }
    return collection.paths.copy()
  }

  /// Stores a path catalog for the next writer.
  ///
  /// - Parameter generation: The generation that was committed with the added paths.
  func givePaths(_ trie: PathTrie, of collection: PostgresCollection, generation: Int64) {
    let kept = KeptPaths(
      trie: trie, incarnation: collection.incarnation, generation: generation)
    catalogues.withLock { $0[collection.folded] = kept }
  }
}
