// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

/// The classes that these tests use: songs on playlists and albums, with cycles where required.
@Model final class Song {
  @TextIndexed var title = ""
  var seconds = 0
  @Inverse var playlists: [Playlist]
  @Inverse var album: Album?

  init(_ title: String = "", _ seconds: Int = 0) {
    self.title = title
    self.seconds = seconds
  }
}

@Model final class Playlist {
  var title: String
  @Relationship(inverse: \Song.playlists) var songs: [Song] = []
  @Relationship var cover: Picture?
  @Relationship var things: [any GraphObject] = []
  @Relationship var anything: (any GraphObject)?
  @Transient var isOpen = false

  init(_ title: String, _ songs: [Song] = []) {
    self.title = title
    self.songs = songs
  }
}

@Model final class Album {
  var title: String
  @Relationship(inverse: \Song.album, delete: .cascade) var tracks: [Song] = []
  @Inverse(delete: .deny) var awards: [Award]

  init(_ title: String, _ tracks: [Song] = []) {
    self.title = title
    self.tracks = tracks
  }
}

@Model final class Award {
  var name: String
  @Relationship(inverse: \Album.awards) var album: Album?

  init(_ name: String, _ album: Album? = nil) {
    self.name = name
    self.album = album
  }
}

@Model final class Picture {
  @Key var name: String
  var pixels: Data
  var taken: Date?
  var tags: [String] = []

  init(_ name: String, _ pixels: Data = Data()) {
    self.name = name
    self.pixels = pixels
  }
}
