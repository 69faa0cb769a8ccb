// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

/// Replays workloads on the same file with each choice of indexes, and compares total processor time, including index
/// creation beforehand and in the background.
struct AdaptiveBench {
  let workload: Workload
  let rounds: Int
  let folder: Folder
  /// Replays only workloads whose name contains this text; nil for all.
  var variant: String?

  /// A choice of indexes.
  private enum Choice: CaseIterable { case never, fixed, adaptive }

  struct Line {
    var replay: Replay
    var never: [Double] = []
    /// The faster of declared indexes and no indexes, for each round.
    var best: [Double] = []
    var adaptive: [Double] = []
    /// The indexes that the store created in the last round, and rejected candidates with reasons.
    var made: [String] = []
    /// The wall-clock time of the adaptive choice relative to the faster fixed one, for each round.
    var wall: [Double] = []
  }

  func run() throws -> [Line] {
    let filled = try folder.freshFile("filled.db")
    let store = try open(filled, .off)
    try store["people"].insert(workload.people)
    try store.close()
    let chosen = Replay.all(workload).filter { replay in
      variant.map { replay.name.contains($0) } ?? true
    }
    return try chosen.map { try measure($0, filled) }
  }

  private func measure(_ replay: Replay, _ filled: String) throws -> Line {
    var line = Line(replay: replay)
    var answers: Set<Int> = []
    for _ in 0..<rounds {
      var seconds: [Choice: Double] = [:]
      var wall: [Choice: Double] = [:]
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
        seconds[choice] = Double(watch.cpuNanoseconds) * 1e-9
        wall[choice] = Double(watch.wallNanoseconds) * 1e-9
        if choice == .adaptive {
          line.made = try people.indexes().map(Self.text)
          line.made += try store.indexAdvice().map { "not \(Self.text($0.index))" }
        }
        try store.close()
      }
      line.never.append(seconds[.never] ?? .nan)
      line.best.append(min(seconds[.never] ?? .nan, seconds[.fixed] ?? .nan))
      line.adaptive.append(seconds[.adaptive] ?? .nan)
      line.wall.append(
        (wall[.adaptive] ?? .nan) / min(wall[.never] ?? .nan, wall[.fixed] ?? .nan))
    }
    guard answers.count == 1 else {
      throw WrongAnswer(
        scenario: replay.name, variant: "one run", answer: answers.max(),
        baseline: "another run", expected: answers.min() ?? 0)
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
      + (index.reason.map { ": \($0)" } ?? "")
  }
}

extension [AdaptiveBench.Line] {
  var table: Table {
    var table = Table(
      header: [
        "workload", "never (s)", "best fixed (s)", "adaptive (s)", "adaptive/best",
        "adaptive/never", "wall clock, adaptive/best",
      ])
    for line in self {
      table.rows.append([
        line.replay.name, line.never.median.secondsText, line.best.median.secondsText,
        line.adaptive.median.secondsText, ratio(line.adaptive, line.best),
        ratio(line.adaptive, line.never), line.wall.median.ratioText,
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

    Processor time to completion, \(rounds.roundsText), \(documents) documents.

    """
  }
}

extension Double {
  fileprivate var secondsText: String { String(format: "%.2f", self) }
}
