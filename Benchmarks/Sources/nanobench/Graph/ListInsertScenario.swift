// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

/// Saves 100,000 songs and 1,000 playlists of 100 songs each into a new file at once, including creation and release
/// of the objects and a checkpoint. The result is the number saved.
struct ListInsertScenario: Scenario {
  let set: SongSet

  let name = "lists-insert"
  let work = "insert and save playlists of 100 songs"
  let unit = "song"
  var operations: Int { self.set.listedCount }

  var raw: Variant {
    Variant("raw SQLite C, encoded before") { [set] folder in
      { watch in
        let connection = try set.rawEmpty(folder)
        try watch.measure {
          try connection.transaction {
            try connection.insert(set.listedSongs, into: "songs")
            try connection.insert(set.lists, into: "playlists")
          }
        }
        return try connection.countAll()
      }
    }
  }

  var ours: [Variant] {
    [
      variant("without undo") { ObjectContext($0, undoLevels: 0) },
      variant("with undo") { ObjectContext($0) },
    ]
  }

  private func variant(
    _ name: String, _ makeContext: @escaping (Store) -> ObjectContext
  ) -> Variant {
    Variant(name) { [set] folder in
      { watch in
        let store = try Store.untuned(folder.freshFile("ours.db"))
        try watch.measure {
          do {
            let context = makeContext(store)
            try set.insertLists(context)
            try context.save()
          }
          // Closing the store checkpoints.
          try store.close()
        }
        return try RawConnection(folder.file("ours.db")).countAll()
      }
    }
  }
}

extension RawConnection {
  fileprivate func countAll() throws -> Int { try count("songs") + count("playlists") }
}
