// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

/// Reads the title of the first song of each playlist in a new context. Raw SQLite gets both bodies by row ID and
/// decodes neither. The result is the number of titles.
struct FirstTitleScenario: Scenario {
  let set: SongSet

  let name = "first-titles"
  let work = "title of the first song of each playlist"
  let unit = "playlist"
  var operations: Int { self.set.listCount }

  var raw: Variant {
    Variant("raw SQLite C, bodies by row ID") { [set] folder in
      let connection = try set.rawFilled(folder, songs: set.listedSongs, lists: set.lists)
      let list = try connection.prepare("SELECT body FROM playlists WHERE id=?1")
      let song = try connection.prepare("SELECT body FROM songs WHERE id=?1")
      return { watch in
        try watch.measure {
          // One snapshot, as for a fetch.
          try connection.execute("BEGIN")
          var count = 0
          for number in 0..<set.listCount {
            list.bind(number + 1, at: 1)
            song.bind(number * SongSet.songsPerList + 1, at: 1)
            if try list.step(), !list.text(0).isEmpty, try song.step(), !song.text(0).isEmpty {
              count += 1
            }
            list.reset()
            song.reset()
          }
          try connection.execute("COMMIT")
          return count
        }
      }
    }
  }

  var ours: [Variant] {
    [
      variant("objects") { !$0.songs[0].title.isEmpty },
      variant("objects, related(_:)", target: 3) { !$0.related(\.songs)[0].title.isEmpty },
      // One snapshot, as for raw SQLite.
      variant("objects, related(_:) in a read block", target: 3, inBlock: true) {
        !$0.related(\.songs)[0].title.isEmpty
      },
    ]
  }

  private func variant(
    _ name: String, target: Double? = nil, inBlock: Bool = false,
    _ hasTitle: @escaping (Playlist) -> Bool
  ) -> Variant {
    Variant(name, target: target) { [set] folder in
      let store = try set.oursFilled(folder, set.insertLists)
      return { watch in
        let context = ObjectContext(store, undoLevels: 0)
        return try withExtendedLifetime(context) {
          func count() throws -> Int { try context.all(Playlist.self).count(where: hasTitle) }
          return try watch.measure { inBlock ? try store.read(count) : try count() }
        }
      }
    }
  }
}
