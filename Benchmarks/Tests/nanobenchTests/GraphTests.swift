// SPDX-License-Identifier: MIT

import NanoStoreModels
import Testing

@testable import BenchmarkKit
@testable import nanobench

@Suite struct GraphTests {
  /// The results of every scenario with 1,000 songs and one playlist of 100.
  static let answers = [
    "songs-insert": 1000, "songs-fetch": 1000, "songs-fetch-release": 1000, "songs-update": 34,
    "lists-insert": 101, "first-titles": 1, "property-reads": 499_500_000, "text-index": 1000,
  ]
  private let set = SongSet(scale: 0.001)

  @Test("Every variant returns the correct result repeatedly", arguments: answers)
  func answer(name: String, expected: Int) async throws {
    let scenario = try #require(graphScenarios(set).first { $0.name == name })

    let answers = try await twice(scenario)

    #expect(answers.count >= 4)
    #expect(answers.allSatisfy { $0 == expected })
  }

  @Test(
    "Searches return the same nonempty result with each index",
    arguments: ["text-search", "text-substrings"])
  func search(name: String) async throws {
    let scenario = try #require(graphScenarios(set).first { $0.name == name })

    let answers = try await twice(scenario)

    #expect(Set(answers).count == 1)
    #expect(answers[0] > 0)
  }

  @Test("Objects are stored with the same bodies that raw SQLite gets")
  func sameBodies() throws {
    let folder = try Folder.temporary()
    let ours = try set.oursFilled(folder, set.insertLists)
    try ours.close()
    let raw = try set.rawFilled(folder, songs: set.listedSongs, lists: set.lists)

    for table in ["songs", "playlists"] {
      let stored = try bodies(table, RawConnection(folder.file("ours.db")))
      #expect(try bodies(table, raw) == stored)
      #expect(!stored.isEmpty)
    }

    try folder.remove()
  }

  @Test("Fetched objects have their content")
  func content() throws {
    let folder = try Folder.temporary()
    let store = try set.oursFilled(folder, set.insertLists)
    let context = ObjectContext(store)

    let songs = try context.all(Song.self)
    let list = try #require(try context.all(Playlist.self).first)

    #expect(songs.map(\.seconds) == Array(0..<100))
    #expect(songs[7].title == "Test Song 7")
    #expect(list.songs[7] === songs[7])
    try folder.remove()
  }

  @Test("A record of the original consists of the length and bytes of the title, and the seconds")
  func record() {
    var record = TokyoRecord()
    TokyoSong(rowID: 2, title: "Gin", seconds: 258).write(to: &record)
    let read = TokyoSong(rowID: 2)

    record.bytes.withUnsafeBytes {
      var reader = TokyoReader($0)
      read.read(&reader)
    }

    #expect(record.bytes == [3, 0, 0, 0, 71, 105, 110, 2, 1, 0, 0])
    #expect(read.title == "Gin" && read.seconds == 258)
  }

  /// Returns the results of all variants in two rounds.
  private func twice(_ scenario: any Scenario) async throws -> [Int] {
    let folder = try Folder.temporary()
    var answers: [Int] = []
    for (number, variant) in ([scenario.raw] + scenario.others + scenario.ours).enumerated() {
      let round = try await variant.prepare(folder.subfolder("\(number)"))
      for _ in 0..<2 {
        let watch = Stopwatch()
        answers.append(try await round(watch))
        #expect(watch.cpuNanoseconds > 0)
      }
    }
    try folder.remove()
    return answers
  }

  private func bodies(_ table: String, _ connection: RawConnection) throws -> [String] {
    let select = try connection.prepare("SELECT body FROM \(table) ORDER BY id")
    var bodies: [String] = []
    while try select.step() { bodies.append(String(decoding: select.text(0), as: UTF8.self)) }
    return bodies
  }
}
