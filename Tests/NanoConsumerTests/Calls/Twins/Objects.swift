// SPDX-License-Identifier: MIT

import NanoStoreModels

@Model final class Track {
  var title: String
  @Relationship var album: Album?
  init(_ title: String) { self.title = title }
}

@Model final class Album {
  var title: String
  @Relationship var tracks: [Track] = []
  init(_ title: String) { self.title = title }
}

func loading(_ context: ObjectContext, _ id: ObjectID<Track>, _ tracks: [Track]) async throws {
  let query = context.find(\Track.title == "Gin").sorted(by: \.title)
  print(try await query.fetch(), try await query.first() as Any, try await query.objectIDs())
  print(try await query.count(), try await query.exists())
  print(try await context.all(Track.self), try await context.get(id) as Any)
  try await context.load(tracks)
  try await context.save()
  print(try await query.fetchSkippingFailures().skipped)
  print(try await context.search(Track.self, "gin").results())
  print(try await query.faults(), try await context.get(Album.self, key: "a") as Any)
  print(try await context.get(AnyObjectID(id)) as Any)
  let albums = try await context.all(Album.self)
  try await context.prefetch(\.tracks, of: albums)
  try await context.prefetch(\.album, of: tracks)
}
