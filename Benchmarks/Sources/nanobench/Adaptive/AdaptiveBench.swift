// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// Replays workloads on the same file with each choice of indexes, and compares the time on the wall until
/// everything is done: making indexes beforehand and in the background included.
struct AdaptiveBench {
  let workload: Workload
  let rounds: Int
  let folder: Folder

  /// One way to have indexes, or not.
  private enum Choice: CaseIterable { case never, fixed, adaptive }

  struct Line {
    var replay: Replay
    var never: [Double] = []
    /// What is faster of the declared indexes and none, in each round.
    var best: [Double] = []
    var adaptive: [Double] = []
    /// The indexes that the store made in the last round.
    var made: [String] = []
  }

  func run() throws -> [Line] {
    let filled = try folder.freshFile("filled.db")
    let store = try open(filled, .off)
    try store["people"].insert(contentsOf: workload.people)
    try store.close()
    return try Replay.all(workload).map { try measure($0, filled) }
  }

  private func measure(_ replay: Replay, _ filled: String) throws -> Line {
    var line = Line(replay: replay)
    var answers: Set<Int> = []
    for _ in 0..<rounds {
      var seconds: [Choice: Double] = [:]
      for choice in Choice.allCases {
        let file = try folder.freshFile("replay.db")
        try FileManager.default.copyItem(atPath: filled, toPath: file)
        let store = try open(file, choice == .adaptive ? .automatic : .off)
        let people = store["people"]
        let watch = Stopwatch()
        try watch.measure {
          if choice == .fixed {
            for paths in replay.indexes { try people.createIndex(paths: paths) }
          }
          answers.insert(try replay.run(people))
          try store.finishIndexTuning()
        }
        seconds[choice] = Double(watch.wallNanoseconds) * 1e-9
        if choice == .adaptive { line.made = try people.indexes().map(Self.text) }
        try store.close()
      }
      line.never.append(seconds[.never] ?? .nan)
      line.best.append(min(seconds[.never] ?? .nan, seconds[.fixed] ?? .nan))
      line.adaptive.append(seconds[.adaptive] ?? .nan)
    }
    guard answers.count == 1 else {
      throw WrongAnswer(
        scenario: replay.name, variant: "one of the runs", answer: answers.max(),
        expected: answers.min() ?? 0)
    }
    return line
  }

  private func open(_ path: String, _ tuning: IndexTuning) throws -> Store {
    var configuration = Store.Configuration()
    configuration.indexTuning = tuning
    return try Store(.file(path), configuration: configuration)
  }

  private static func text(_ index: IndexDefinition) -> String {
    index.columns.map { ($0.descending ? "-" : "") + $0.path.description }.joined(separator: ", ")
  }
}

extension [AdaptiveBench.Line] {
  var table: Table {
    var table = Table(
      header: [
        "workload", "never (s)", "best fixed (s)", "adaptive (s)", "adaptive/best",
        "adaptive/never",
      ])
    for line in self {
      table.rows.append([
        line.replay.name, line.never.median.secondsText, line.best.median.secondsText,
        line.adaptive.median.secondsText, ratio(line.adaptive, line.best),
        ratio(line.adaptive, line.never),
      ])
    }
    return table
  }

  private func ratio(_ one: [Double], _ other: [Double]) -> String {
    zip(one, other).map { $0 / $1 }.median.ratioText
  }

  func markdown(rounds: Int, documents: Int) -> String {
    """
    \(table.markdown)

    Time on the wall until all is done, medians of \(rounds) rounds, \(documents) documents.

    """
  }
}

extension Double {
  fileprivate var secondsText: String { String(format: "%.2f", self) }
}
