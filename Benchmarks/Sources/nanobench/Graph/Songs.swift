// SPDX-License-Identifier: MIT

import NanoStoreModels

/// The two classes of BNRPersistence's speed tests. A playlist has an ordered list of songs; songs have no inverse.
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

/// The same songs with a full-text index.
@Model(collection: "songs") final class SearchableSong {
  @TextIndexed var title = ""
  var seconds = 0
}
