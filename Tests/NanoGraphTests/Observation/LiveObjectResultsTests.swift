// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Observation
import Testing

@testable import NanoGraph
@testable import NanoStoreCore

@Suite("Live results of objects") @MainActor
struct LiveObjectResultsTests {
  private let store: Store
  private let context: ObjectContext

  init() throws {
    store = try anyStore()
    context = ObjectContext(store)
    for number in 0..<10 { try context.insert(Song("song \(number)", number)) }
    try context.save()
    try context.removeAllUndoActions()
  }

  private func wait(
    until condition: () throws -> Bool, _ location: SourceLocation = #_sourceLocation
  ) async throws {
    // Limited by attempts: on a busy machine, minutes may pass between two of them.
    for _ in 0..<40_000 {
      if try condition() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("The condition did not become true", sourceLocation: location)
  }

  private func other(_ change: (ObjectContext) throws -> Void) throws {
    let other = ObjectContext(store, isLive: false)
    try change(other)
    try other.save()
  }

  private func long(_ seconds: Int = 5) -> ObjectQuery<Song> {
    context.find(\Song.seconds >= seconds).sorted(by: \.seconds)
  }

  private func titles(_ results: LiveResults<Song>) -> [String] { results.elements.map(\.title) }

  @Test("The elements are the objects of the context") func elements() async throws {
    let results = LiveResults(long(), loading: .immediately)
    #expect(titles(results) == (5..<10).map { "song \($0)" })
    let fetched = try await long().fetch()
    #expect(zip(results.elements, fetched).allSatisfy { $0 === $1 })
  }

  @Test("Commits of others change the list, and a changed field wakes its observers only")
  func commits() async throws {
    let results = LiveResults(long(), loading: .immediately)
    let list = Watch { results.elements.count }
    let objects = results.elements
    let fields = objects.map { song in Watch { song.title } }
    try other { try $0.find(\Song.seconds == 7).first()?.title = "changed" }
    try await wait { fields.contains { $0.count > 0 } }
    #expect(fields.map(\.count) == [0, 0, 1, 0, 0])
    #expect(list.count == 0)
    try other { try $0.insert(Song("new", 100)) }
    try await wait { list.count == 1 }
    #expect(results.elements.last?.title == "new")
    #expect(zip(objects, results.elements).allSatisfy { $0 === $1 })
    #expect(fields.map(\.count) == [0, 0, 1, 0, 0])
  }

  @Test("Unsaved changes are in the results, and every further change of an unsaved object too")
  func unsaved() async throws {
    let results = LiveResults(long(), loading: .immediately)
    let new = try context.insert(Song("new", 6))
    try await wait { titles(results).contains("new") }
    #expect(titles(results) == ["song 5", "song 6", "new", "song 7", "song 8", "song 9"])
    new.seconds = 100
    try await wait { titles(results).last == "new" }
    new.seconds = 1
    try await wait { !titles(results).contains("new") }
    new.seconds = 50
    try await wait { titles(results).last == "new" }
    let first = results.elements[0]
    try context.delete(first)
    try await wait { !titles(results).contains("song 5") }
    try context.undo()
    try await wait { titles(results).contains("song 5") }
    context.rollback()
    try await wait { titles(results) == (5..<10).map { "song \($0)" } }
  }

  @Test("Changes that are rolled back or undone leave the results, although nothing is committed")
  func rolledBack() async throws {
    let stored = (5..<10).map { "song \($0)" }
    let results = LiveResults(long(), loading: .immediately)
    // Only the number of elements is read, so that no observer of an object helps.
    let song = try #require(results.elements.first)
    song.seconds = 1
    try await wait { results.elements.count == 4 }
    context.rollback()
    try await wait { titles(results) == stored }

    let new = try context.insert(Song("new", 6))
    let later = LiveResults(long(), loading: .immediately)
    #expect(later.elements.contains { $0 === new })
    try context.undo()
    try await wait { titles(later) == stored && titles(results) == stored }
  }

  @Test("Unsaved changes and observed elements cause one evaluation for each change")
  func evaluations() async throws {
    let results = LiveResults(long(), loading: .immediately)
    let titles = results.elements.map { song in Watch { song.title } }
    let other = try context.insert(Playlist("Road"))
    let reads = Watch { results.elements.count }
    let table = context.table(Song.self)
    let signal = try #require(results.subscription?.signal)
    // Evaluations that follow each other at every interval leave it armed for shorter.
    var armed = 0
    for _ in 0..<40_000 where armed < 10 {
      armed = signal.isArmed ? armed + 1 : 0
      try await Task.sleep(for: .milliseconds(5))
    }

    #expect(armed == 10)
    #expect(reads.count == 0 && titles.allSatisfy { $0.count == 0 })
    #expect(other.hasChanges && table.counts.isEmpty)
  }

  @Test("A change that was unsaved before the results exist is followed too") func before()
    async throws
  {
    let new = try context.insert(Song("new", 6))
    new.title = "newer"
    let results = LiveResults(long(), loading: .immediately)
    #expect(titles(results).contains("newer"))
    new.seconds = 0
    try await wait { !titles(results).contains("newer") }
    // Undo takes back each recorded change once.
    try context.undo()
    #expect(new.isDeleted || new.context == nil)
    try await wait { titles(results) == (5..<10).map { "song \($0)" } }
  }

  @Test("Saving changes nothing in the results") func saving() async throws {
    let results = LiveResults(long(), loading: .immediately)
    try context.insert(Song("new", 6))
    try await wait { results.count == 6 }
    let elements = Watch { results.elements.count }
    try { try context.save() }()
    try other { try $0.insert(Song("newest", 7)) }
    try await wait { results.count == 7 }
    #expect(elements.values == [6, 7])
  }

  @Test("Another query keeps the elements until its own are there") func change() async throws {
    let results = LiveResults(long(), loading: .immediately)
    let counts = Watch { results.count }
    results.change(to: long(8))
    #expect(results.isLoading)
    #expect(counts.values == [5])
    try await wait { !results.isLoading }
    #expect(counts.values == [5, 2])
    #expect(titles(results) == ["song 8", "song 9"])
  }

  @Test("Equal writes wake nobody") func equalWrites() async throws {
    let results = LiveResults(long(), loading: .immediately)
    let elements = Watch { results.elements.map(\.title) }
    let songs = try await store["Song"].find().fetch()
    for _ in 0..<100 { for song in songs { try await store["Song"].replace(song) } }
    try other { try $0.insert(Song("new", 100)) }
    try await wait { results.count == 6 }
    #expect(elements.count == 1)
  }

  @Test("A paused list costs nothing and catches up, and a released one ends") func pausing()
    async throws
  {
    var results: LiveResults<Song>? = LiveResults(long(), loading: .immediately)
    results?.isPaused = true
    try other { try $0.insert(Song("new", 100)) }
    try context.insert(Song("newer", 101))
    #expect(results?.count == 5)
    results?.isPaused = false
    try await wait { results?.count == 7 }
    weak let released = results
    results = nil
    #expect(released == nil)
    try context.insert(Song("newest", 102))
  }

  @Test(
    "After random changes, the results are those of a query", arguments: 0..<TestEngine.trials(10))
  func random(seed: Int) async throws {
    var random = SplitMix(seed: UInt64(seed) + 1)
    let results = LiveResults(
      context.find(\Song.seconds >= 5).sorted(by: \.seconds).limit(6), loading: .immediately,
      interval: .milliseconds(1))
    var songs = try await context.all(Song.self)
    for step in 0..<30 {
      let song = songs.randomElement(using: &random)!
      let seconds = Int.random(in: 0..<12, using: &random)
      switch Int.random(in: 0..<9, using: &random) {
      case 0: songs.append(try context.insert(Song("step \(step)", seconds)))
      case 1, 2: if song.context != nil, !song.isDeleted { song.seconds = seconds }
      case 3: if song.context != nil, songs.count > 5 { try context.delete(song) }
      case 4: try context.undo()
      case 5: try { try context.save() }()
      case 6:
        if !context.hasUnsavedChanges {
          try other { try $0.find(\Song.seconds == seconds).first()?.seconds = 11 }
        }
      case 7: try await Task.sleep(for: .milliseconds(2))
      default: if seconds == 0 { context.rollback() }
      }
      if step % 10 == 9 {
        try await wait {
          let expected = try context.find(\Song.seconds >= 5).sorted(by: \.seconds).limit(6).fetch()
          return results.elements.map { ObjectIdentifier($0) }
            == expected.map { ObjectIdentifier($0) }
        }
      }
    }
  }
}
