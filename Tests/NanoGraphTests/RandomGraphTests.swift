// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

/// A graph of plain values: the expected content of a context, and of undo states.
private struct Graph: Equatable {
  var songs: [Int: String] = [:]
  /// Lists by title, with their songs. A song can be in several lists, and more than once in a list.
  var lists: [Int: [Int]] = [:]
  /// A song is on at most one album.
  var albums: [Int: [Int]] = [:]

  mutating func removeSong(_ song: Int) {
    songs[song] = nil
    for id in lists.keys { lists[id]?.removeAll { $0 == song } }
    for id in albums.keys { albums[id]?.removeAll { $0 == song } }
  }

  mutating func removeAlbum(_ album: Int) {
    for song in Set(albums[album] ?? []) { removeSong(song) }
    albums[album] = nil
  }

  mutating func setTracks(_ tracks: [Int], of album: Int) {
    for id in albums.keys where id != album { albums[id]?.removeAll { tracks.contains($0) } }
    albums[album] = tracks
  }
}

/// A context and the plain values that it must match. Objects store their number in their title.
private final class GraphModel {
  let store: Store
  let context: ObjectContext
  var random: SplitMix
  var graph = Graph()
  var saved = Graph()
  /// The states before and after each undo group, and those of the last save.
  var done: [(before: Graph, after: Graph)] = []
  var undone: [(before: Graph, after: Graph)] = []
  var savedStacks: (done: [(Graph, Graph)], undone: [(Graph, Graph)]) = ([], [])
  var next = 1
  var groups = 0
  /// Instances retained by the test, so that only some objects are released.
  var retained: [AnyObject] = []
  var log: [String] = []

  let levels: Int

  init(seed: UInt64, levels: Int) throws {
    self.levels = levels
    store = try anyStore()
    context = ObjectContext(store, undoLevels: levels)
    random = SplitMix(seed: seed)
  }

  func pick(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }
  func pickKey<Value>(_ some: [Int: Value]) -> Int? {
    let keys = some.keys.sorted()
    return keys.isEmpty ? nil : keys[pick(keys.count)]
  }
  func pickSongs() -> [Int] {
    (0..<pick(4)).compactMap { _ in pickKey(graph.songs) }
  }

  func song(_ number: Int) throws -> Song {
    try #require(try context.all(Song.self).first { $0.seconds == number })
  }
  func list(_ number: Int) throws -> Playlist {
    try #require(try context.all(Playlist.self).first { $0.title == "\(number)" })
  }
  func album(_ number: Int) throws -> Album {
    try #require(try context.all(Album.self).first { $0.title == "\(number)" })
  }

  /// Performs one undo group of one to three changes.
  func change() throws {
    let before = graph
    groups += 1
    try context.undoGroup(named: "\(groups)") {
      for _ in 0...pick(3) { try changeOnce() }
    }
    if levels == 0 { return }
    // Without changes there is no undo group. Changes that cancel each other out may form one.
    guard context.undoName == "\(groups)" else {
      #expect(graph == before, "\(log)")
      return
    }
    done.append((before, graph))
    if done.count > levels { done.removeFirst() }
    undone.removeAll()
  }

  private func changeOnce() throws {
    switch pick(12) {
    case 0, 1:
      let song = try context.insert(Song("s\(next)", next))
      retained.append(song)
      graph.songs[next] = song.title
      log.append("song \(next)")
      next += 1
    case 2:
      let songs = pickSongs()
      let list = Playlist("\(next)")
      if pick(2) == 0 { list.songs = try songs.map(song) }
      try context.insert(list)
      if list.songs.isEmpty { list.songs = try songs.map(song) }
      graph.lists[next] = songs
      log.append("list \(next) \(songs)")
      next += 1
    case 3:
      let songs = Array(Set(pickSongs())).sorted()
      try context.insert(Album("\(next)", try songs.map(song)))
      graph.albums[next] = []
      graph.setTracks(songs, of: next)
      log.append("album \(next) \(songs)")
      next += 1
    case 4:
      guard let number = pickKey(graph.songs) else { return }
      try song(number).title += "!"
      graph.songs[number]? += "!"
      log.append("title of \(number)")
    case 5, 6:
      guard let number = pickKey(graph.lists), let added = pickKey(graph.songs) else { return }
      let place = pick((graph.lists[number]?.count ?? 0) + 1)
      try list(number).songs.insert(song(added), at: place)
      graph.lists[number]?.insert(added, at: place)
      log.append("\(added) into list \(number)")
    case 7:
      guard let number = pickKey(graph.lists), let count = graph.lists[number]?.count, count > 0
      else { return }
      let place = pick(count)
      try list(number).songs.remove(at: place)
      graph.lists[number]?.remove(at: place)
      log.append("out of list \(number) at \(place)")
    case 8:
      guard let number = pickKey(graph.albums) else { return }
      let songs = Array(Set(pickSongs())).sorted()
      try album(number).tracks = try songs.map(song)
      graph.setTracks(songs, of: number)
      log.append("tracks of \(number) are \(songs)")
    case 9:
      guard let number = pickKey(graph.songs) else { return }
      let target = pickKey(graph.albums)
      try song(number).album = try target.map(album)
      log.append("album of \(number) is \(target ?? 0)")
      for id in graph.albums.keys where id != target {
        graph.albums[id]?.removeAll { $0 == number }
      }
      if let target, graph.albums[target]?.contains(number) == false {
        graph.albums[target]?.append(number)
      }
    case 10:
      guard let number = pickKey(graph.songs) else { return }
      try context.delete(song(number))
      graph.removeSong(number)
      log.append("delete song \(number)")
    default:
      guard let number = pickKey(graph.albums) else { return }
      try context.delete(album(number))
      graph.removeAlbum(number)
      log.append("delete album \(number)")
    }
  }

  func step() throws {
    switch pick(20) {
    case 0...11: try change()
    case 12, 13:
      log.append("save")
      try context.save()
      saved = graph
      savedStacks = (done, undone)
    case 14, 15:
      log.append("undo")
      #expect(try context.undo() == !done.isEmpty)
      if let last = done.popLast() {
        graph = last.before
        undone.append(last)
      }
    case 16:
      log.append("redo")
      #expect(try context.redo() == !undone.isEmpty)
      if let last = undone.popLast() {
        graph = last.after
        done.append(last)
      }
    case 17:
      log.append("let go")
      retained.removeAll()
    case 18:
      log.append("refresh")
      context.refreshAll()
    default:
      log.append("rollback")
      context.rollback()
      graph = saved
      (done, undone) = savedStacks
    }
  }

  /// Returns the content of a context, including its unsaved changes.
  func contents(_ context: ObjectContext) throws -> Graph {
    var contents = Graph()
    for song in try context.all(Song.self) { contents.songs[song.seconds] = song.title }
    for list in try context.all(Playlist.self) {
      let songs = pick(2) == 0 ? Array(list.related(\.songs)) : list.songs
      contents.lists[Int(list.title) ?? 0] = songs.map(\.seconds)
    }
    for album in try context.all(Album.self) {
      let tracks = pick(2) == 0 ? Array(album.related(\.tracks)) : album.tracks
      contents.albums[Int(album.title) ?? 0] = tracks.map(\.seconds)
    }
    return contents
  }

  /// Expects both ends of every relationship to be consistent.
  func expectInverses() throws {
    for song in try context.all(Song.self) {
      let lists = graph.lists.filter { $0.value.contains(song.seconds) }.keys.sorted()
      #expect(song.playlists.compactMap { Int($0.title) }.sorted() == lists, "\(log)")
      let album = graph.albums.first { $0.value.contains(song.seconds) }?.key
      #expect(song.album.flatMap { Int($0.title) } == album, "\(log)")
    }
  }

  func check() throws -> Bool {
    let contents = try contents(context)
    let stored = try self.contents(ObjectContext(store))
    #expect(contents == graph, "\(log)")
    #expect(stored == saved, "\(log)")
    if pick(2) == 0 { try expectInverses() }
    return contents == graph && stored == saved
  }
}

@Suite("Random object graphs")
struct RandomGraphTests {
  @Test(
    "A context matches plain values after random changes, undo, saves and rollbacks",
    arguments: 1...TestEngine.trials(60))
  func agrees(seed: Int) throws { try run(seed, levels: 100) }

  @Test(
    "A context with few or no undo levels matches plain values",
    arguments: 1...TestEngine.trials(20))
  func levels(seed: Int) throws { try run(seed, levels: seed.isMultiple(of: 2) ? 0 : 2) }

  private func run(_ seed: Int, levels: Int) throws {
    let machine = try GraphModel(seed: UInt64(seed), levels: levels)
    for _ in 0..<60 {
      do {
        try machine.step()
        guard try machine.check() else { return }
      } catch {
        Issue.record("\(error) after \(machine.log)")
        return
      }
    }
  }
}
