// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Observation
import Synchronization
import Testing

@Model final class Track: Identifiable {
  var title: String
  var seconds: Int
  @Indexed var album: String

  init(_ title: String, seconds: Int, album: String) {
    self.title = title
    self.seconds = seconds
    self.album = album
  }
}

@MainActor @Observable final class TrackScreen {
  let context: ObjectContext
  let tracks: LiveResults<Track>
  let total: LiveValue<Int>
  private(set) var failure: String?

  init(_ store: Store) {
    context = ObjectContext(store)
    tracks = LiveResults(Self.query(context, ""), loading: .immediately)
    total = LiveValue(store[Track.self].find().aggregateUpdates(.sum(\.seconds)))
  }

  var search = "" {
    didSet { if search != oldValue { tracks.change(to: Self.query(context, search)) } }
  }

  private static func query(_ context: ObjectContext, _ text: String) -> ObjectQuery<Track> {
    let all = context.find(Track.self).sorted(by: \.album, \.title)
    return text.isEmpty ? all : all.where { $0.title.matches(.insensitiveContains, text) }
  }

  func rename(_ track: Track, _ title: String) throws {
    try context.undoGroup(named: "Rename") { track.title = title }
  }

  func save() async {
    do {
      try await context.save()
      failure = nil
    } catch let error as ObjectConflictError {
      failure = "Changed elsewhere: \(error.conflicts.count)"
    } catch {
      failure = "\(error)"
    }
  }
}

@MainActor final class Terminal {
  private let screen: TrackScreen
  private(set) var lines: [String] = []

  init(_ screen: TrackScreen) {
    self.screen = screen
    draw()
  }

  private func draw() {
    lines = withObservationTracking {
      screen.tracks.elements.map { "\($0.title) \($0.seconds)" } + ["\(screen.total.value ?? 0)"]
    } onChange: { [weak self] in
      Task { @MainActor in self?.draw() }
    }
  }
}

@Suite("Code in docs/USER-INTERFACES.md") @MainActor
struct UserInterfaces {
  private let store: Store
  private let screen: TrackScreen
  private let context: ObjectContext
  private let track: Track

  init() async throws {
    store = try anyStore()
    screen = TrackScreen(store)
    context = screen.context
    track = try context.insert(Track("Summertime", seconds: 298, album: "Porgy and Bess"))
    try context.insert(Track("It Ain't Necessarily So", seconds: 210, album: "Porgy and Bess"))
    try await context.save()
    try context.removeAllUndoActions()
    try await wait { screen.tracks.count == 2 && screen.total.value == 508 }
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

  private func others(_ change: (ObjectContext) throws -> Void) async throws {
    let other = ObjectContext(store, isLive: false)
    try change(other)
    try await other.save()
  }

  @Test("A search field ignores case, and sections have the order of the list")
  func search() async throws {
    try context.insert(Track("Mack the Knife", seconds: 280, album: "Ella in Berlin"))
    try await wait { screen.tracks.sections(by: \.album).map(\.id).first == "Ella in Berlin" }
    #expect(screen.tracks.sections(by: \.album).map(\.elements.count) == [1, 2])
    screen.search = "KNIFE"
    #expect(screen.tracks.count == 3)
    try await wait { screen.tracks.elements.map(\.title) == ["Mack the Knife"] }
  }

  @Test("A terminal shows what another context saves") func terminal() async throws {
    let terminal = Terminal(screen)
    try await others { try $0.insert(Track("Amor", seconds: 2, album: "Able")) }
    try await wait { terminal.lines.first == "Amor 2" && terminal.lines.last == "510" }
  }

  @Test("Observations yields the titles of a track") func observations() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let track = track
    @MainActor func printTitles(of track: Track) async {
      for await title in Observations({ track.title }) {
        print(title)  // now, and after each change
        if title.isEmpty { break }
      }
    }
    let printing = Task { await printTitles(of: track) }
    await Task.yield()
    track.title = ""
    await printing.value
  }

  @Test("Only a different value notifies an observer") func notifications() {
    let texts = Texts()
    @Sendable func print(_ text: String) { texts.list.withLock { $0.append(text) } }
    let title = withObservationTracking {
      track.title
    } onChange: {
      print("changed")
    }
    track.title = title  // equal
    track.seconds += 1  // not read
    track.title = "Summer"  // prints "changed"
    #expect(texts.list.withLock { $0 } == ["changed"])
  }

  @Test("A conflict keeps the unsaved title, until a policy resolves it") func conflict()
    async throws
  {
    try await others { try $0.find(\Track.seconds == 298).first()?.title = "Theirs" }
    track.title = "Mine"
    do {
      try await context.save()
    } catch is ObjectConflictError {
      context.conflictPolicy = .overwrite  // or .keepStored, or ask the user
      try await context.save()
    }
    #expect(try await store[Track.self].find(\.title == "Mine").count() == 1)
  }

  @Test("A view model reports a conflict") func failure() async throws {
    try screen.rename(track, "Mine")
    #expect(context.undoName == "Rename")
    try await others { try $0.find(\Track.seconds == 298).first()?.title = "Theirs" }
    await screen.save()
    #expect(screen.failure == "Changed elsewhere: 1")
    #expect(track.title == "Mine")
  }

  @Test("Undo and redo have names") func undo() throws {
    try context.undoGroup(named: "Rename") { track.title = "Winter" }
    print(context.canUndo, context.undoName ?? "")  // true Rename
    try context.undo()
    print(context.canRedo, context.redoName ?? "")  // true Rename
    #expect(context.redoName == "Rename" && !context.canUndo)
    #expect(track.title == "Summertime")
  }
}

private final class Texts: Sendable {
  let list = Mutex<[String]>([])
}
