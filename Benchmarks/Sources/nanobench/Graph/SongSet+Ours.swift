// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

extension SongSet {
  func insertSongs(_ context: ObjectContext) throws {
    for number in 0..<count {
      try context.insert(Song(title: Self.title, seconds: number))
    }
  }

  func insertTitledSongs(_ context: ObjectContext) throws {
    for (number, title) in titles.enumerated() {
      try context.insert(Song(title: title, seconds: number))
    }
  }

  /// Inserts songs, and adds them to playlists one by one.
  func insertLists(_ context: ObjectContext) throws {
    let songs = try (0..<listedCount).map {
      try context.insert(Song(title: Self.listedTitle($0), seconds: $0))
    }
    for number in 0..<listCount {
      let list = Playlist(title: Self.listTitle)
      for song in Self.songs(ofList: number) { list.songs.append(songs[song]) }
      try context.insert(list)
    }
  }

  /// Returns a reopened store with what the closure inserts.
  func oursFilled(
    _ folder: Folder, _ fill: (ObjectContext) throws -> Void
  ) throws -> Store {
    let store = try Store.untuned(folder.freshFile("ours.db"))
    do {
      let context = ObjectContext(store, undoLevels: 0)
      try fill(context)
      try context.save()
    }
    try store.close()
    try store.reopen()
    return store
  }
}
