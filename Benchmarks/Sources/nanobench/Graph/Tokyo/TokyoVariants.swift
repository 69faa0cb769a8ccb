// SPDX-License-Identifier: MIT

import BenchmarkKit

#if canImport(CTokyo)
  private let tokyo = "Tokyo Cabinet"

  extension SongInsertScenario {
    var others: [Variant] {
      [
        Variant(tokyo) { [set] folder in
          { watch in
            let files = try TokyoFiles(folder)
            try watch.measure {
              try files.save(set.tokyoSongs())
              try files.close()
            }
            return try TokyoFiles(reopening: folder).songs.count
          }
        }
      ]
    }
  }

  extension SongFetchScenario {
    var others: [Variant] {
      [
        Variant(tokyo) { [set, includesRelease] folder in
          let files = try set.tokyoFilled(folder) { try $0.save(set.tokyoSongs()) }
          return { watch in
            var songs: [TokyoSong] = []
            try watch.measure { songs = try files.allSongs() }
            let count = songs.count
            if includesRelease { watch.measure { songs = [] } }
            return count
          }
        }
      ]
    }
  }

  extension SongUpdateScenario {
    var others: [Variant] {
      [
        Variant(tokyo) { [set, numbers] folder in
          let filled = try folder.subfolder("filled")
          try set.tokyoFilled(filled, set.insertTokyoLists).close()
          return { watch in
            let file = try folder.copy(filled.file(TokyoFiles.songsName))
            let files = try TokyoFiles(songs: file, lists: folder.freshFile("lists"))
            // An arbitrary third of them, because they come in file order.
            let songs = try files.allSongs()
            try watch.measure {
              let changed = numbers.map { songs[$0] }
              for song in changed { song.title = SongSet.newTitle }
              try files.save(changed)
              try files.close()
            }
            return try TokyoFiles(songs: file, lists: folder.file("lists")).allSongs()
              .count { $0.title == SongSet.newTitle }
          }
        }
      ]
    }
  }

  extension ListInsertScenario {
    var others: [Variant] {
      [
        Variant(tokyo) { [set] folder in
          { watch in
            let files = try TokyoFiles(folder)
            try watch.measure {
              try set.insertTokyoLists(files)
              try files.close()
            }
            return try TokyoFiles(reopening: folder).count
          }
        }
      ]
    }
  }

  extension FirstTitleScenario {
    var others: [Variant] {
      [
        Variant(tokyo) { [set] folder in
          let files = try set.tokyoFilled(folder, set.insertTokyoLists)
          return { watch in
            try watch.measure {
              var count = 0
              for list in try files.allLists() {
                let song = list.songs[0]
                if files.songs.get(song.rowID, { song.read(&$0) }), !song.title.isEmpty {
                  count += 1
                }
              }
              return count
            }
          }
        }
      ]
    }
  }
#endif
