// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

/// Saves a million songs with the same title into a new file at once, including creation and release of the objects
/// and a checkpoint. Raw SQLite gets encoded bodies. The result is the number saved.
struct SongInsertScenario: Scenario {
  let set: SongSet

  let name = "songs-insert"
  let work = "insert and save songs"
  let unit = "song"
  var operations: Int { self.set.count }
  var original: Double? { 1.75 }

  var raw: Variant {
    Variant("raw SQLite C, encoded before") { [set] folder in
      { watch in
        let connection = try set.rawEmpty(folder)
        try watch.measure {
          try connection.transaction { try connection.insert(set.songs, into: "songs") }
        }
        return try connection.count("songs")
      }
    }
  }

  var ours: [Variant] {
    [
      variant("without undo", target: 1.4) { ObjectContext($0, undoLevels: 0) },
      variant("with undo", target: nil) { ObjectContext($0) },
    ]
  }

  private func variant(
    _ name: String, target: Double?, _ makeContext: @escaping (Store) -> ObjectContext
  ) -> Variant {
    Variant(name, target: target) { [set] folder in
      { watch in
        let store = try Store.untuned(folder.freshFile("ours.db"))
        try watch.measure {
          do {
            let context = makeContext(store)
            try set.insertSongs(context)
            try context.save()
          }
          // Closing the store checkpoints.
          try store.close()
        }
        return try RawConnection(folder.file("ours.db")).count("songs")
      }
    }
  }
}
