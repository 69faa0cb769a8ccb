// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL
import Synchronization

/// What is known of collections, shared by all connections of one engine. What it holds may be out of date:
/// whoever uses it compares its generation with that of the snapshot.
final class PostgresCollectionCache: Sendable {
  private let collections = Mutex<[ExactName: PostgresCollection]>([:])
  private let catalogues = Mutex<[ExactName: KeptPaths]>([:])

  // @unchecked: a trie is handed out once and taken back when its user is done with it.
  /// A catalogue that a writer has left, for the next one.
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

  /// A catalogue of the paths of a collection that its one writer may add to.
  func takePaths(of collection: PostgresCollection) -> PathTrie {
    let kept = catalogues.withLock { $0.removeValue(forKey: collection.folded) }
    if let kept, kept.incarnation == collection.incarnation,
      kept.generation == collection.generation
    {
      return kept.trie
    }
    return collection.paths.copy()
  }

  /// - Parameter generation: The one that was committed with what was added.
  func givePaths(_ trie: PathTrie, of collection: PostgresCollection, generation: Int64) {
    let kept = KeptPaths(
      trie: trie, incarnation: collection.incarnation, generation: generation)
    catalogues.withLock { $0[collection.folded] = kept }
  }
}
