// SPDX-License-Identifier: MIT

import NanoStoreModels
import Observation
import Testing

/// In a type of its own, since other articles have songs too.
enum InterfacesArticle {
  @Model final class Song {
    var title: String

    init(_ title: String) { self.title = title }
  }

  @MainActor final class SongScreen {
    let context: ObjectContext
    let songs: LiveResults<Song>
    let number: LiveValue<Int>

    init(_ store: Store) {
      context = ObjectContext(store)
      songs = LiveResults(context.find(Song.self).sorted(by: \.title), loading: .immediately)
      number = LiveValue(store[Song.self].find().countUpdates(), loading: .immediately)
    }

    var text: String {
      songs.elements.map(\.title).joined(separator: ", ") + ": \(number.value ?? 0)"
    }

    func draw(_ show: @escaping @MainActor (String) -> Void) {
      let text = withObservationTracking {
        self.text
      } onChange: { [weak self] in
        Task { @MainActor in self?.draw(show) }
      }
      show(text)
    }
  }
}

@Suite("Code in the article User interfaces") @MainActor
struct InterfacesSnippets {
  private typealias Song = InterfacesArticle.Song
  private typealias SongScreen = InterfacesArticle.SongScreen

  private final class Drawn { var texts: [String] = [] }

  @Test("A view is drawn again after a save, with the saved number") func code() async throws {
    let screen = SongScreen(try Store(.memory))
    let drawn = Drawn()
    screen.draw { drawn.texts.append($0) }
    #expect(drawn.texts == [": 0"])

    try screen.context.insert(Song("Gin"))
    try await screen.context.save()

    for _ in 0..<40_000 where drawn.texts.last != "Gin: 1" {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(drawn.texts.last == "Gin: 1")
  }
}
