// SPDX-License-Identifier: MIT

import BenchmarkKit

#if canImport(CTokyo)
  /// One file per class, as in the original.
  struct TokyoFiles {
    let songs: TokyoFile
    let lists: TokyoFile

    init(songs: String, lists: String) throws {
      self.songs = try TokyoFile(songs)
      self.lists = try TokyoFile(lists)
    }

    /// Creates empty files.
    init(_ folder: Folder) throws {
      try self.init(
        songs: folder.freshFile(Self.songsName), lists: folder.freshFile(Self.listsName))
    }

    /// Opens existing files.
    init(reopening folder: Folder) throws {
      try self.init(songs: folder.file(Self.songsName), lists: folder.file(Self.listsName))
    }

    static let songsName = "Song"
    static let listsName = "Playlist"

    var count: Int { songs.count + lists.count }

    func close() throws {
      try songs.close()
      try lists.close()
    }

    func save(_ songs: [TokyoSong]) throws {
      var record = TokyoRecord()
      for song in songs {
        record.removeAll()
        song.write(to: &record)
        try self.songs.put(song.rowID, record)
      }
    }

    func save(_ lists: [TokyoList]) throws {
      var record = TokyoRecord()
      for list in lists {
        record.removeAll()
        list.write(to: &record)
        try self.lists.put(list.rowID, record)
      }
    }

    func allSongs() throws -> [TokyoSong] {
      var all: [TokyoSong] = []
      try songs.each { rowID, reader in
        let song = TokyoSong(rowID: rowID)
        song.read(&reader)
        all.append(song)
      }
      return all
    }

    func allLists() throws -> [TokyoList] {
      var all: [TokyoList] = []
      try lists.each { rowID, reader in
        let list = TokyoList(rowID: rowID)
        list.read(&reader)
        all.append(list)
      }
      return all
    }
  }

  extension SongSet {
    func tokyoSongs() -> [TokyoSong] {
      (0..<count).map {
        TokyoSong(rowID: UInt32($0 + 1), title: Self.title, seconds: UInt32($0))
      }
    }

    /// Creates songs and playlists and saves them.
    func insertTokyoLists(_ files: TokyoFiles) throws {
      let songs = (0..<listedCount).map {
        TokyoSong(rowID: UInt32($0 + 1), title: Self.listedTitle($0), seconds: UInt32($0))
      }
      let lists = (0..<listCount).map { number in
        let list = TokyoList(rowID: UInt32(number + 1), title: Self.listTitle)
        for song in Self.songs(ofList: number) { list.songs.append(songs[song]) }
        return list
      }
      try files.save(songs)
      try files.save(lists)
    }

    /// Returns reopened files with what the closure inserts.
    func tokyoFilled(
      _ folder: Folder, _ fill: (TokyoFiles) throws -> Void
    ) throws -> TokyoFiles {
      let files = try TokyoFiles(folder)
      try fill(files)
      try files.close()
      return try TokyoFiles(reopening: folder)
    }
  }
#endif
