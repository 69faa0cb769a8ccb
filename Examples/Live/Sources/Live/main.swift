// SPDX-License-Identifier: MIT

// Shows the songs of a store, and draws them again when what it shows changes. Another process writes:
//
//   Live music.db               shows the songs until the end of the input
//   Live music.db --redraws 10  shows them ten times
//   Live music.db --write 10    writes ten changes, one every 200 milliseconds

import Foundation
import NanoStoreModels
import Observation

@Model final class Song {
  var title: String
  var seconds: Int

  init(_ title: String, _ seconds: Int) {
    self.title = title
    self.seconds = seconds
  }
}

@MainActor final class Screen {
  private let songs: LiveResults<Song>
  private let total: LiveValue<Int>
  private var redraws: Int?
  private let isTerminal = isatty(STDOUT_FILENO) != 0

  init(_ store: Store, redraws: Int?) {
    let context = ObjectContext(store)
    songs = LiveResults(context.find(Song.self).sorted(by: \.title), loading: .immediately)
    total = LiveValue(
      store[Song.self].find().aggregateUpdates(.sum(\.seconds)), loading: .immediately)
    self.redraws = redraws
  }

  /// Shows the songs until the end of the input.
  func run() async {
    show()
    await endOfInput()
  }

  /// Draws, and draws again after a change of anything that was read for it.
  private func show() {
    let text = withObservationTracking {
      drawing
    } onChange: { [weak self] in
      // Several changes lead to one drawing: the task runs when the main actor has made all of them.
      Task { await self?.show() }
    }
    let screen = isTerminal ? "\u{1B}[2J\u{1B}[H\(text)" : text + "\n"
    FileHandle.standardOutput.write(Data(screen.utf8))
    if let left = redraws {
      guard left > 1 else { exit(0) }
      redraws = left - 1
    }
  }

  private var drawing: String {
    let lines = songs.elements.map { song in
      "\(song.title.padding(toLength: 20, withPad: " ", startingAt: 0)) \(Self.time(song.seconds))\n"
    }
    return lines.joined() + "\(songs.count) songs, \(Self.time(total.value ?? 0))\n"
  }

  private static func time(_ seconds: Int) -> String {
    String(format: "%d:%02d", seconds / 60, seconds % 60)
  }
}

/// Inserts songs, and makes every second one longer after it is saved.
@MainActor func writeChanges(_ changes: Int, to store: Store) async throws {
  let context = ObjectContext(store, isLive: false)
  var last: Song?
  for number in 0..<changes {
    if let song = last.take() {
      song.seconds += 60
    } else {
      last = try context.insert(Song("Song \(number / 2 + 1)", 30))
    }
    try await context.save()
    try await Task.sleep(for: .milliseconds(200))
  }
}

/// Waits for the end of the standard input on a thread of its own, since reading it blocks.
func endOfInput() async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      while readLine() != nil {}
      continuation.resume()
    }
  }
}

/// Returns the number after an option.
func number(_ option: String) -> Int? {
  let arguments = CommandLine.arguments
  guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else {
    return nil
  }
  return Int(arguments[index + 1])
}

guard CommandLine.arguments.count > 1 else {
  print("Usage: Live FILE [--redraws N | --write N]")
  exit(2)
}
let store = try Store(.file(CommandLine.arguments[1]))
if let changes = number("--write") {
  try await writeChanges(changes, to: store)
} else {
  await Screen(store, redraws: number("--redraws")).run()
}
try store.close()
