// SPDX-License-Identifier: MIT

import BenchmarkKit

/// A piece of work that both engines perform with the same calls. Ratios are to SQLite in wall-clock time, because a
/// server works in separate processes.
struct Comparison: Scenario {
  typealias Round = (Stopwatch) throws -> Int

  let name: String
  let work: String
  let unit: String
  let operations: Int
  /// The largest acceptable ratio.
  var target: Double?
  let contest: Contest
  /// Prepares what all rounds share.
  let prepare: (Side) throws -> Round

  var clock: Clock { .wall }

  var raw: Variant {
    Variant("SQLite in process") { [contest, prepare] _ in try prepare(contest.sqlite) }
  }

  var ours: [Variant] {
    [
      Variant("PostgreSQL", target: target) { [contest, prepare] _ in
        try prepare(contest.postgres)
      }
    ]
  }
}
