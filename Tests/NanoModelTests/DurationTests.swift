// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Model private struct Track {
  static let indexes = [ModelIndex<Track>(\.length)]
  @Key var id: String
  var length: Duration = .zero
  var pause: Duration? = nil
  var parts: [Duration] = []
}

@Suite("Properties of type Duration")
struct DurationTests {
  private let tracks: ModelCollection<Track>

  init() throws {
    tracks = try anyStore()[Track.self]
    try tracks.insert([
      Track(id: "a", length: .seconds(200), pause: .milliseconds(1), parts: [.seconds(1)]),
      Track(id: "b", length: .milliseconds(9_500), parts: [.seconds(20), .seconds(3)]),
      Track(id: "c", length: .seconds(10), pause: .seconds(2)),
    ])
  }

  private func ids(_ condition: ModelCondition<Track>) throws -> [String] {
    try tracks.find(condition).sorted(by: \.id).select(\.id)
  }

  @Test("Durations round-trip")
  func roundTrip() throws {
    let a = try #require(try tracks.get("a"))
    #expect(a.length == .seconds(200) && a.pause == .milliseconds(1) && a.parts == [.seconds(1)])
    #expect(try tracks.get("b")?.pause == nil)
  }

  @Test("Conditions, orders and aggregates compare durations by length")
  func queries() throws {
    #expect(try ids(\.length == .seconds(10)) == ["c"])
    #expect(try ids(\.length > .seconds(9) && \.length < .seconds(11)) == ["b", "c"])
    #expect(try ids(\.pause == nil) == ["b"])
    #expect(try ids(\.pause < .seconds(1)) == ["a"])
    let listed = tracks.find { $0.length.isIn([.seconds(10), .seconds(200)]) }
    #expect(try listed.sorted(by: \.id).select(\.id) == ["a", "c"])
    #expect(try tracks.find().sorted(by: \.length).select(\.id) == ["b", "c", "a"])
    #expect(try tracks.find().min(\.length) == .milliseconds(9_500))
    #expect(try tracks.find().sum(\.length) == .milliseconds(219_500))
    #expect(try tracks.find().average(\.pause) == 1.0005)
    #expect(try tracks.find(\.length > .seconds(300)).sum(\.length) == .zero)
  }

  @Test("Increments add durations exactly")
  func increments() throws {
    try tracks.update("b", .increment(\.length, by: .milliseconds(600)))
    try tracks.update("b", .increment(\.pause, by: .seconds(-3)))

    let b = try #require(try tracks.get("b"))
    #expect(b.length == .milliseconds(10_100) && b.pause == .seconds(-3))
  }

  @Test("A predicate compares durations as Swift does")
  func predicates() throws {
    let (short, one) = (Duration.seconds(10), Duration.seconds(1))
    let isShort = #Predicate<Track> { $0.length <= short }
    let hasOne = #Predicate<Track> { $0.parts.contains(one) }
    #expect(try tracks.find(isShort).count() == 2)
    #expect(try tracks.find(hasOne).select(\.id) == ["a"])
  }
}
