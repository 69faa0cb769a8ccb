// SPDX-License-Identifier: MIT

import BenchmarkKit

/// The data of the object graph scenarios, as in BNRPersistence's speed tests: a million songs with the same title,
/// and 100,000 songs on 1,000 playlists. For full-text search, as many songs with titles of four words.
final class SongSet {
  /// The number of songs without playlists.
  let count: Int
  let listCount: Int
  static let songsPerList = 100
  /// The number of songs on playlists.
  var listedCount: Int { listCount * Self.songsPerList }

  /// - Parameter scale: 1 for as many objects as in the original.
  init(scale: Double) {
    count = max(100, Int(1_000_000 * scale))
    listCount = max(1, Int(1000 * scale))
  }

  static let title = "Test Song"
  static let newTitle = "New Song Title"
  static let listTitle = "Test Playlist"
  static func listedTitle(_ number: Int) -> String { "Test Song \(number)" }

  /// Returns the numbers of the songs on a playlist.
  static func songs(ofList number: Int) -> Range<Int> {
    number * songsPerList..<(number + 1) * songsPerList
  }

  /// Titles of four words out of 4,000, so that a word appears in a thousandth of them.
  private(set) lazy var titles: [String] = {
    var random = SplitMix(seed: 7)
    return (0..<count).map { _ in
      (0..<4).map { _ in random.pick(Names.words) }.joined(separator: " ")
    }
  }()

  /// The words to search for, all different.
  let soughtWords = Array(Names.words.prefix(50))
  /// The substrings to search for.
  let soughtParts = [500, 1500, 2500].map { String(Names.words[$0].dropFirst().dropLast()) }

  // MARK: Stored bodies

  private(set) lazy var songs = bodies(count) { _ in Self.title }
  private(set) lazy var listedSongs = bodies(listedCount, Self.listedTitle)
  private(set) lazy var titledSongs = bodies(count) { self.titles[$0] }
  private(set) lazy var lists = StoredDocuments(
    (0..<listCount).map { number in
      let ids = Self.songs(ofList: number).map { "\($0 + 1)" }.joined(separator: ",")
      return #"{"title":"\#(Self.listTitle)","songs":[\#(ids)]}"#
    })
  /// The listed songs after the update.
  private(set) lazy var renamedSongs = bodies(listedCount) { _ in Self.newTitle }

  private func bodies(_ count: Int, _ title: (Int) -> String) -> StoredDocuments {
    StoredDocuments((0..<count).map { #"{"title":"\#(title($0))","seconds":\#($0)}"# })
  }
}
