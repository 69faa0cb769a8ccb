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

func run() async throws {
  let store = try Store(.file("music.db"))
  let context = ObjectContext(store)
  let road = try context.insert(Playlist("Road"))
  road.songs = [Song("Gin"), Song("Tonic"), Song("Ice")]
  try await context.save()

  try context.undoGroup(named: "Less") {
    try context.delete(road.songs[0])
    road.songs[0].title = "Soda"
  }
  print(road.songs.map(\.title))
  try context.undo()
  print(road.songs.map(\.title))

  // A second context has its own instances and loads their content on first access.
  try await context.save()
  let other = ObjectContext(store)
  let gin = try await other.get(road.objectID!)!.songs[0]
  print("In another context:", gin.isFault ? "a fault, then" : "loaded:", gin.title)

  // Changing one end of a relationship updates the other.
  let street = try context.insert(Playlist("Street"))
  road.songs[0].playlists.append(street)
  print(road.songs[0].playlists.map(\.title).joined(separator: ", "))
  try await context.save()

  // Saving an object that changed in the store since it was read is a conflict, which reports both versions.
  road.songs[0].title = "Genever"
  gin.title = "Bourbon"
  try await context.save()
  do {
    try await other.save()
  } catch let error as ObjectConflictError {
    print("Conflict:", error.conflicts.count)
  }

  // Deleting a song removes it from all playlists.
  try context.delete(road.songs[0])
  try await context.save()
  let fresh = ObjectContext(store)
  print("Deleted:", try await fresh.find(\Playlist.title == "Road").first()!.songs.map(\.title))
  try store.close()
}

try await run()
