// SPDX-License-Identifier: MIT

import NanoStoreModels

/// BNRPersistence's speed tests know two classes. A playlist knows its songs, in order; songs know no
/// playlists.
@Model(collection: "songs") final class Song {
  var title = ""
  var seconds = 0

  init(title: String, seconds: Int) {
    self.title = title
    self.seconds = seconds
  }
}

@Model(collection: "playlists") final class Playlist {
  var title = ""
  @Relationship var songs: [Song] = []

  init(title: String) { self.title = title }
}

/// The same songs, for a program that searches them.
@Model(collection: "songs") final class SearchableSong {
  @TextIndexed var title = ""
  var seconds = 0
}
