// SPDX-License-Identifier: MIT

import NanoStoreModels

@Model final class Song {
  var title: String
  @Inverse var playlists: [Playlist]

  init(_ title: String) { self.title = title }
}

@Model final class Playlist {
  var title: String
  @Relationship(inverse: \Song.playlists) var songs: [Song] = []

  init(_ title: String) { self.title = title }
}

func objects() throws {
  let store = try Store(.file("music.db"))
  let context = ObjectContext(store)
  let road = try context.insert(Playlist("Road"))
  road.songs = [Song("Gin"), Song("Tonic"), Song("Ice")]
  try context.save()

  try context.undoGroup(named: "Less") {
    try context.delete(road.songs[0])
    road.songs[0].title = "Soda"
  }
  print(road.songs.map(\.title))
  try context.undo()
  print(road.songs.map(\.title))
}
