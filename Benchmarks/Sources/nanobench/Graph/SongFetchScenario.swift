// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

/// Fetches all songs as an array of unique objects in a new context. Raw SQLite only steps and reads the columns in
/// place. The result is the number of songs.
struct SongFetchScenario: Scenario {
  let set: SongSet
  /// Whether the release of the objects is measured too.
  let includesRelease: Bool

  var name: String { includesRelease ? "songs-fetch-release" : "songs-fetch" }
  var work: String {
    includesRelease ? "fetch and release all songs" : "fetch all songs"
  }
  let unit = "song"
  var operations: Int { self.set.count }
  var original: Double? { 10 }

  var raw: Variant {
    Variant("raw SQLite C, step only") { [set] folder in
      let connection = try set.rawFilled(folder, songs: set.songs)
      let select = try connection.prepare("SELECT id,added,body FROM songs")
      return { watch in try watch.measure { try select.countSongs() } }
    }
  }

  var ours: [Variant] {
    [
      Variant("objects", target: 5) { [set, includesRelease] folder in
        let store = try set.oursFilled(folder, set.insertSongs)
        return { watch in
          let context = ObjectContext(store, undoLevels: 0)
          var songs: [Song] = []
          try watch.measure { songs = try context.all(Song.self) }
          let count = songs.count
          if includesRelease { watch.measure { songs = [] } } else { songs = [] }
          // Objects that outlive their context would cost more.
          return withExtendedLifetime(context) { count }
        }
      }
    ]
  }
}
