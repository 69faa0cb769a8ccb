// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

/// Creates a full-text index on the titles of stored songs. The result is the number of songs.
struct TextIndexScenario: Scenario {
  let set: SongSet

  let name = "text-index"
  let work = "create a word index on existing titles"
  let unit = "song"
  var operations: Int { self.set.count }

  var raw: Variant {
    Variant("raw SQLite C, FTS5") { [set] folder in
      let connection = try set.rawFilled(folder, songs: set.titledSongs)
      return { watch in
        try connection.execute("DROP TABLE IF EXISTS titles")
        try watch.measure { try connection.indexTitles(.words) }
        return try connection.count("songs")
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("@TextIndexed") { [set] folder in
        let store = try set.oursFilled(folder, set.insertTitledSongs)
        let songs = store[SearchableSong.self]
        return { watch in
          for index in try songs.documents.fullTextIndexes() {
            try songs.documents.dropIndex(index.name)
          }
          try watch.measure { try songs.prepare() }
          return try songs.documents.count()
        }
      }
    ]
  }
}

/// The kind of search.
enum SearchKind {
  case words
  case substrings
}

extension RawConnection {
  /// Creates an FTS5 index on the titles with NanoStore's tokenizer, without stored content.
  func indexTitles(_ kind: SearchKind) throws {
    let tokenizer = kind == .words ? "unicode61 remove_diacritics 2" : "trigram case_sensitive 0"
    try execute(
      "CREATE VIRTUAL TABLE titles USING fts5(title, content='', tokenize='\(tokenizer)')")
    try execute(
      "INSERT INTO titles(rowid,title) SELECT id,\(RawTable.field("title")) FROM songs")
  }
}
