// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

/// Random changes of a graph whose every property is observed: each observer knows the current value, and is never
/// notified of an equal one.
@Suite("Observers of random changes")
struct RandomObservationTests {
  static let deleted = "deleted"

  @Test(
    "Observers know what they would read, and are woken by nothing else",
    arguments: 0..<TestEngine.trials(100))
  func random(seed: Int) throws {
    let program = try RandomObservation(store: anyStore(), seed: UInt64(seed) + 1)
    for step in 0..<60 {
      let operation = try program.step()
      for watch in program.watches where watch.isInContext() {
        let isRight = watch.knows == watch.current
        #expect(
          isRight,
          "seed \(seed), step \(step), \(operation): \(watch.name), \(watch.values), now \(watch.current)"
        )
        // The relationship of an object that is deleted changes in two ways at once.
        let isWoken = zip(watch.values, watch.values.dropFirst())
          .allSatisfy { $0 != $1 || $0 == Self.deleted }
        #expect(isWoken, "seed \(seed), step \(step), \(operation): \(watch.name) \(watch.values)")
        guard isRight, isWoken else { return }
      }
    }
  }
}

private final class RandomObservation {
  struct Named {
    let name: String
    let watch: Watch<String>
    let read: () -> String
    /// Objects that a rollback has removed from the context are not told of deletions.
    let isInContext: () -> Bool
    var knows: String? { watch.values.last }
    var current: String { read() }
    var values: [String] { watch.values }
  }

  private let store: Store
  private let context: ObjectContext
  private var random: SplitMix
  private var songs: [Song]
  private var lists: [Playlist]
  private var albums: [Album]
  private(set) var watches: [Named] = []

  init(store: Store, seed: UInt64) throws {
    self.store = store
    random = SplitMix(seed: seed)
    context = ObjectContext(store)
    context.conflictPolicy = .overwrite
    songs = (0..<5).map { Song("song \($0)", $0) }
    lists = (0..<3).map { Playlist("list \($0)") }
    albums = (0..<2).map { Album("album \($0)") }
    for song in songs { try context.insert(song) }
    for list in lists { try context.insert(list) }
    for album in albums { try context.insert(album) }
    try context.save()
    for (number, song) in songs.enumerated() { watch(song, "song \(number)") }
    for (number, list) in lists.enumerated() { watch(list, "list \(number)") }
    for (number, album) in albums.enumerated() {
      watch("album \(number).tracks", of: album) {
        album.isDeleted ? RandomObservationTests.deleted : Self.names(album.tracks)
      }
      watch("album \(number).isDeleted") { "\(album.isDeleted)" }
    }
    watch("canUndo") { [context] in "\(context.canUndo)" }
    watch("canRedo") { [context] in "\(context.canRedo)" }
    watch("hasUnsavedChanges") { [context] in "\(context.hasUnsavedChanges)" }
  }

  private func watch(
    _ name: String, of object: (any GraphObject)? = nil, _ read: @escaping () -> String
  ) {
    watches.append(
      Named(
        name: name, watch: Watch(read), read: read,
        isInContext: { object.map { $0.context != nil || $0.isDeleted } ?? true }))
  }

  private func watch(_ song: Song, _ name: String) {
    let object = song
    watch(name + ".title", of: object) { song.title }
    watch(name + ".seconds", of: object) { "\(song.seconds)" }
    watch(name + ".playlists", of: object) {
      song.isDeleted ? RandomObservationTests.deleted : Self.names(song.playlists)
    }
    watch(name + ".album", of: object) {
      song.isDeleted ? RandomObservationTests.deleted : Self.names(song.album.map { [$0] } ?? [])
    }
    watch(name + ".isDeleted", of: object) { "\(song.isDeleted)" }
    watch(name + ".hasChanges", of: object) { "\(song.hasChanges)" }
  }

  private func watch(_ list: Playlist, _ name: String) {
    let object = list
    watch(name + ".title", of: object) { list.title }
    watch(name + ".songs", of: object) {
      list.isDeleted ? RandomObservationTests.deleted : Self.names(list.songs)
    }
    watch(name + ".anything", of: object) {
      list.isDeleted ? RandomObservationTests.deleted : Self.names(list.anything.map { [$0] } ?? [])
    }
    watch(name + ".isDeleted", of: object) { "\(list.isDeleted)" }
  }

  /// The relationships of a deleted object are not observed here: they may contain objects that were deleted with it.
  private static func names(_ objects: [any GraphObject]) -> String {
    objects.map { "\(ObjectIdentifier($0).hashValue)" }.joined(separator: " ")
  }

  private func pick<Element>(_ elements: [Element]) -> Element {
    elements.randomElement(using: &random)!
  }

  private func some(_ songs: [Song]) -> [Song] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in pick(songs) }
  }

  /// Performs a random operation, and returns its name.
  func step() throws -> String {
    let isAlive: (any GraphObject) -> Bool = { $0.context != nil && !$0.isDeleted }
    let (songs, lists, albums) = (
      songs.filter(isAlive), lists.filter(isAlive), albums.filter(isAlive)
    )
    guard !songs.isEmpty, !lists.isEmpty, !albums.isEmpty else {
      try context.undo()
      return "undo"
    }
    let number = Int.random(in: 0..<4, using: &random)
    switch Int.random(in: 0..<18, using: &random) {
    case 0: pick(songs).title = "title \(number)"
    case 1: pick(songs).seconds = number
    case 2: pick(lists).songs = some(songs)
    case 3: pick(lists).songs.append(pick(songs))
    case 4: pick(songs).playlists = [pick(lists)]
    case 5: pick(songs).album = pick(albums)
    case 6: pick(albums).tracks = some(songs)
    case 7: pick(lists).anything = number == 0 ? nil : pick(songs)
    case 8: try context.delete(pick(songs))
    case 9: try context.delete(pick(lists))
    case 10:
      try context.undo()
      return "undo"
    case 11:
      try context.redo()
      return "redo"
    case 12:
      try context.save()
      return "save"
    case 13:
      if number == 0 { context.rollback() }
      return "rollback"
    case 14:
      try changeElsewhere(number)
      context.refreshAll()
      return "change elsewhere \(number), refreshAll"
    case 15:
      try changeElsewhere(number)
      _ = try context.all(Song.self)
      _ = try context.all(Playlist.self)
      context.refreshAll()
      return "change elsewhere \(number), query"
    case 16:
      try context.closeUndoGroup()
      return "closeUndoGroup"
    default:
      try context.undoGroup {
        pick(songs).title = "title \(number)"
        pick(lists).songs = some(songs)
        if number == 0 { try context.delete(pick(lists)) }
      }
      return "undoGroup"
    }
    return "change"
  }

  private func changeElsewhere(_ number: Int) throws {
    let other = ObjectContext(store, isLive: false)
    let (songs, lists) = (try other.all(Song.self), try other.all(Playlist.self))
    guard !songs.isEmpty, !lists.isEmpty else { return }
    switch number {
    case 0: pick(songs).title = "elsewhere \(Int.random(in: 0..<3, using: &random))"
    case 1: pick(lists).songs = some(songs)
    case 2: try other.delete(pick(songs))
    default: try other.delete(pick(lists))
    }
    try other.save()
  }
}
