// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStoreModels

/// Changes the title of every third of 100,000 songs in memory, and saves with a checkpoint. Every round starts with
/// the same file. The result is the number changed.
struct SongUpdateScenario: Scenario {
  let set: SongSet

  let name = "songs-update"
  let work = "rename every third song and save"
  let unit = "renamed song"
  var operations: Int { numbers.count }

  /// The numbers of the changed songs.
  var numbers: [Int] { Array(stride(from: 0, to: self.set.listedCount, by: 3)) }

  var raw: Variant {
    Variant("raw SQLite C, encoded before") { [set, numbers] folder in
      let filled = try set.rawFilled(folder.subfolder("filled"), songs: set.listedSongs).file
      return { watch in
        let connection = try RawConnection(folder.copy(filled))
        let update = try connection.prepare("UPDATE songs SET body=?2 WHERE id=?1")
        try watch.measure {
          try connection.transaction {
            for number in numbers {
              update.bind(number + 1, at: 1)
              update.bind(text: set.renamedSongs.body(number), at: 2)
              try update.run()
            }
          }
        }
        return try connection.countRenamed()
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
    Variant(name) { [set, numbers] folder in
      let filled = try {
        let filled = try folder.subfolder("filled")
        try set.oursFilled(filled, set.insertLists).close()
        return filled.file("ours.db")
      }()
      return { watch in
        let file = try folder.copy(filled)
        let store = try Store.untuned(file)
        let context = makeContext(store)
        let songs = try context.all(Song.self)
        try watch.measure {
          for number in numbers { songs[number].title = SongSet.newTitle }
          try context.save()
          // Closing the store checkpoints.
          try store.close()
        }
        return try RawConnection(file).countRenamed()
      }
    }
  }
}

extension Folder {
  /// Copies a closed database over the previous copy, and returns its path.
  func copy(_ file: String) throws -> String {
    let copy = try freshFile("round.db")
    try FileManager.default.copyItem(atPath: file, toPath: copy)
    return copy
  }
}

extension RawConnection {
  fileprivate func countRenamed() throws -> Int {
    try count("songs WHERE \(RawTable.field("title"))='\(SongSet.newTitle)'")
  }
}
