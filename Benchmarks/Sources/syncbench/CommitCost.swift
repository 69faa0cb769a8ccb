// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore
import NanoStoreSync

/// The time of a commit that changes one document, in microseconds, for each way in which changes are recorded.
struct CommitCost {
  enum Recording: String, CaseIterable {
    case none = "not tracked"
    case tracked = "tracked changes"
    case synced = "synchronized, the document for the first time since it was sent"
  }

  var recording: Recording
  /// The medians of all rounds, processor time and wall-clock time.
  var cpu: Double
  var wall: Double
  /// The median of the ratios to tracked changes in the same round.
  var ratio: Double

  static func measure(_ rounds: Int, in folder: Folder) async throws -> [Self] {
    var stores: [Recording: Store] = [:]
    let other = try Store(.memory)
    for recording in Recording.allCases {
      let store = try Store(.file(folder.file("commit-\(recording).db")))
      try await Sample.fill(store, documents)
      if recording == .tracked { try await store[Sample.collection].setChangeTracking(.on) }
      stores[recording] = store
    }
    var times: [Recording: [(cpu: Double, wall: Double)]] = [:]
    for round in 0..<rounds {
      // Every document has a revision before the round, so its first change keeps the former content: the costly case.
      if let synced = stores[.synced] {
        try await synced.replicate(
          [Sample.collection], with: .store(other), direction: .push, mode: .once
        ).finish()
      }
      for recording in Recording.allCases {
        guard let store = stores[recording] else { continue }
        times[recording, default: []].append(try commits(store, round))
      }
    }
    return Recording.allCases.map { recording in
      let own = times[recording] ?? []
      let tracked = times[.tracked] ?? []
      return Self(
        recording: recording, cpu: median(own.map(\.cpu)), wall: median(own.map(\.wall)),
        ratio: median(zip(own, tracked).map { $0.wall / $1.wall }))
    }
  }

  private static let documents = 10_000
  private static let commits = 500

  private static func commits(_ store: Store, _ round: Int) throws -> (cpu: Double, wall: Double) {
    let films = store[Sample.collection]
    let stopwatch = Stopwatch()
    for commit in 0..<commits {
      let number = (round * commits + commit * 7919) % documents
      let film = Sample.film(number, plays: round * commits + commit)
      let key = Sample.key(number)
      _ = try stopwatch.measure { try films.save(film, key: key) }
    }
    return (
      Double(stopwatch.cpuNanoseconds) / 1000 / Double(commits),
      Double(stopwatch.wallNanoseconds) / 1000 / Double(commits)
    )
  }

  private static func median(_ values: [Double]) -> Double {
    values.isEmpty ? .nan : values.sorted()[values.count / 2]
  }

  static func table(_ costs: [Self]) -> String {
    Table(
      header: [
        "a commit of one document, in a collection that is", "processor (µs)", "wall (µs)",
        "to tracked",
      ],
      rows: costs.map {
        [
          $0.recording.rawValue, String(format: "%.0f", $0.cpu), String(format: "%.0f", $0.wall),
          $0.ratio.ratioText,
        ]
      }
    ).markdown
  }
}
