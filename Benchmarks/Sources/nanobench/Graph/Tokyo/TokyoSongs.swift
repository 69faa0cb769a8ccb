// SPDX-License-Identifier: MIT

/// The objects that are kept in Tokyo Cabinet, as plain as they can be: without the original's table of unique
/// objects, undoing and observers, so that its storage is measured and not its Objective-C.
final class TokyoSong {
  let rowID: UInt32
  var title = ""
  var seconds: UInt32 = 0

  /// One without content.
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
