// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

/// Searches songs by title, ranked: the first 20 with a word, or all with a substring, as in the original. The result
/// is the number found.
struct TextSearchScenario: Scenario {
  let set: SongSet
  let kind: SearchKind

  var name: String { kind == .words ? "text-search" : "text-substrings" }
  var work: String {
    kind == .words ? "word search, first 20" : "substring search, all results"
  }
  let unit = "search"
  var operations: Int { sought.count }

  private var sought: [String] {
    kind == .words ? self.set.soughtWords : self.set.soughtParts
  }
  private var limit: Int? { kind == .words ? 20 : nil }

  var raw: Variant {
    Variant("raw SQLite C, FTS5") { [set, kind, sought, limit] folder in
      let connection = try set.rawFilled(folder, songs: set.titledSongs)
      try connection.indexTitles(kind)
      let search = try connection.prepare(
        "SELECT s.id,s.added,s.body FROM titles JOIN songs s ON s.id=titles.rowid "
          + "WHERE titles MATCH ?1 ORDER BY rank LIMIT \(limit ?? -1)")
      return { watch in
        try watch.measure {
          try sought.reduce(0) { found, words in
            try found + search.withText("\"\(words)\"") { try search.countSongs() }
          }
        }
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("objects") { [set, kind, sought, limit] folder in
        let store = try set.oursFilled(folder, set.insertTitledSongs)
        let songs = store[SearchableSong.self].documents
        try songs.createFullTextIndex("title", tokens: kind == .words ? .words : .substrings)
        return { watch in
          let context = ObjectContext(store, undoLevels: 0)
          return try withExtendedLifetime(context) {
            try watch.measure {
              try sought.reduce(0) {
                try $0 + context.search(SearchableSong.self, $1).limit(limit).fetch().count
              }
            }
          }
        }
      }
    ]
  }
}
