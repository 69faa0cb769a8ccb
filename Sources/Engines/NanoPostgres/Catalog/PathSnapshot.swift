// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

// @unchecked: the trie is never changed after it was built.
/// The catalogue of a collection's paths as it was read, for any number of readers.
final class PathSnapshot: @unchecked Sendable {
  private let trie: PathTrie
  let entries: [Entry]

  struct Entry: Sendable {
    /// As ``CatalogPath`` has it, in UTF-8: names are other names in another Unicode form.
    var path: [UInt8]
    var types: Int64
  }

  init(_ entries: [Entry]) {
    self.entries = entries
    trie = Self.trie(entries)
  }

  func facts(at path: FieldPath) -> PathSummary? { trie.facts(at: path) }

  /// A catalogue that a writer may add to.
  func copy() -> PathTrie { Self.trie(entries) }

  private static func trie(_ entries: [Entry]) -> PathTrie {
    let trie = PathTrie()
    for entry in entries {
      let path = CatalogPath(String(decoding: entry.path, as: UTF8.self))
      // Leaves have no numbers here.
      trie.add(path, Int32(truncatingIfNeeded: entry.types), attribute: 1)
    }
    trie.settle()
    return trie
  }

  /// As ``EngineReader/observedPaths(in:)`` gives them.
  var observed: [ObservedPath] {
    entries.map { entry in
      let path = CatalogPath(String(decoding: entry.path, as: UTF8.self))
      return ObservedPath(
        path: path.unescaped.text, types: ObservedTypes(rawValue: Int(entry.types)))
    }.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }
}
