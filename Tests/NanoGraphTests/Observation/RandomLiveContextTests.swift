// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

@testable import NanoGraph

/// The same random program with and without live results: whoever watches a context does not change what it records, saves
/// and undoes.
@Suite("Contexts with live results")
struct RandomLiveContextTests {
  @MainActor
  @Test(
    "A context with live results records, saves and undoes as one without",
    arguments: 0..<TestEngine.trials(60))
  func same(seed: Int) async throws {
    let plain = try await trace(seed, isWatched: false)
    let watched = try await trace(seed, isWatched: true)
    for (step, (expected, actual)) in zip(plain, watched).enumerated() where expected != actual {
      Issue.record("seed \(seed), step \(step):\n\(expected)\n\(actual)")
      return
    }
    #expect(plain.count == watched.count)
  }

  /// Runs a random program, and returns the state after each of its operations.
  @MainActor
  private func trace(_ seed: Int, isWatched: Bool) async throws -> [String] {
    let store = try anyStore()
    let context = ObjectContext(store)
    let results =
      isWatched
      ? LiveResults(context.find(Song.self).sorted(by: \.title), loading: .immediately) : nil
    var random = SplitMix(seed: UInt64(seed) + 1)
    let list = try context.insert(Playlist("list"))
    for number in 0..<4 { try context.insert(Song("song \(number)", number)) }
    try await context.save()

    /// Changes what the context has in the order of row IDs, new objects last.
    func change() throws {
      let songs = try context.find(Song.self).sorted(by: \.seconds).fetch()
      let number = Int.random(in: 0..<5, using: &random)
      let index = Int.random(in: 0..<max(songs.count, 1), using: &random)
      guard !songs.isEmpty else { return }
      switch number {
      case 0: songs[index].title = "title \(Int.random(in: 0..<9, using: &random))"
      case 1: try context.insert(Song("new", Int.random(in: 10..<1_000_000, using: &random)))
      case 2: try context.delete(songs[index])
      case 3: list.songs = [songs[index]]
      default:
        songs[index].title += "!"
        songs[index].title += "?"
      }
    }
    var states: [String] = []
    for _ in 0..<40 {
      let operation = Int.random(in: 0..<12, using: &random)
      switch operation {
      case 0..<5: try change()
      case 5: try context.undo()
      case 6: try context.redo()
      case 7: try { try context.save() }()
      case 8: try await context.save()
      case 9:
        // Changes after a save has taken its snapshot. Before that, they may or may not be part of it.
        var hasEnded = false
        let save = Task { @MainActor in
          defer { hasEnded = true }
          try await context.save()
        }
        while context.suspendedSave == nil, !hasEnded { await Task.yield() }
        try change()
        try change()
        try await save.value
      case 10: context.rollback()
      default: try context.closeUndoGroup()
      }
      let songs = try await store["Song"].find().fetch().map { try $0.object().jsonString() }
      let objects = try await context.find(Song.self).sorted(by: \.seconds).fetch()
      states.append(
        """
        \(operation): \(context.canUndo) \(context.canRedo) \(context.hasUnsavedChanges)
        \(objects.map { "\($0.title) \($0.hasChanges) \($0.playlists.count)" })
        \(list.songs.map(\.title))
        \(songs)
        """)
    }
    _ = results
    return states
  }
}
