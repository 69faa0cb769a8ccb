// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

// @unchecked: the trie does not change after initialization.
/// A collection's path catalog as of one read, shared by any number of readers.
final class PathSnapshot: @unchecked Sendable {
  private let trie: PathTrie
  let entries: [Entry]

  struct Entry: Sendable {
    /// The path in the form of ``CatalogPath``, in UTF-8: names that differ only in Unicode normalization are
    /// distinct.
    var path: [UInt8]
    var types: Int64
  }

  init(_ entries: [Entry]) {
    self.entries = entries
    trie = Self.trie(entries)
  }

  func summary(at path: FieldPath) -> PathSummary? { trie.summary(at: path) }

  /// Returns a copy of the catalog that a writer can modify.
  func copy() -> PathTrie { Self.trie(entries) }

  private static func trie(_ entries: [Entry]) -> PathTrie {
    let trie = PathTrie()
    for entry in entries {
      let path = CatalogPath(String(decoding: entry.path, as: UTF8.self))
      // Leaf nodes have no numbers in this catalog.
      trie.add(path, Int32(truncatingIfNeeded: entry.types), attribute: 1)
    }
    trie.settle()
    return trie
  }

  /// The paths as ``EngineCatalogReader/observedPaths(in:)`` returns them.
  var observed: [ObservedPath] {
    entries.map { entry in
      let path = CatalogPath(String(decoding: entry.path, as: UTF8.self))
      return ObservedPath(
        path: path.unescaped.text, types: ObservedTypes(rawValue: Int(entry.types)))
    }.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }
}
