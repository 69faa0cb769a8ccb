// SPDX-License-Identifier: MIT

/// Minimal objects stored in Tokyo Cabinet, without the original's identity map, undo and observers, so that its
/// storage is measured rather than its Objective-C code.
final class TokyoSong {
  let rowID: UInt32
  var title = ""
  var seconds: UInt32 = 0

  /// Creates a fault.
  init(rowID: UInt32) { self.rowID = rowID }

  init(rowID: UInt32, title: String, seconds: UInt32) {
    self.rowID = rowID
    self.title = title
    self.seconds = seconds
  }

  func write(to record: inout TokyoRecord) {
    record.text(title)
    record.number(seconds)
  }

  func read(_ reader: inout TokyoReader) {
    title = reader.text()
    seconds = reader.number()
  }
}

final class TokyoList {
  let rowID: UInt32
  var title = ""
  var songs: [TokyoSong] = []

  init(rowID: UInt32, title: String = "") {
    self.rowID = rowID
    self.title = title
  }

  func write(to record: inout TokyoRecord) {
    record.text(title)
    record.number(UInt32(songs.count))
    for song in songs { record.number(song.rowID) }
  }

  /// Songs have no content yet.
  func read(_ reader: inout TokyoReader) {
    title = reader.text()
    songs = (0..<reader.number()).map { _ in TokyoSong(rowID: reader.number()) }
  }
}
