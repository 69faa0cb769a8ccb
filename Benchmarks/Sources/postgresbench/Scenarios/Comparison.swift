// SPDX-License-Identifier: MIT

import BenchmarkKit

/// A piece of work that both engines do by the same calls. Ratios are to SQLite, in time on the wall: a server
/// works in processes of its own.
struct Comparison: Scenario {
  typealias Round = (Stopwatch) throws -> Int

  let name: String
  let work: String
  let unit: String
  let operations: Int
  /// The largest ratio that we are content with.
  var target: Double?
  let contest: Contest
  /// Makes what all rounds share.
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
