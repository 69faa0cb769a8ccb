// SPDX-License-Identifier: MIT

/// One piece of work, performed in several ways, with the cost of each.
///
/// All variants of a scenario must return the same result; otherwise the runner stops.
package protocol Scenario {
  /// The name for `--only`.
  var name: String { get }
  /// The description of the work for tables.
  var work: String { get }
  /// One operation. Times are given per operation.
  var unit: String { get }
  /// The number of operations in one round.
  var operations: Int { get }

  /// The baseline of ratios: raw SQLite as a careful C programmer would use it, unless stated otherwise.
  var raw: Variant { get }
  /// The idiomatic GRDB implementation with Codable records; nil if there is none.
  var record: Variant? { get }
  /// Other implementations for comparison.
  var others: [Variant] { get }
  /// The implementations with NanoStore.
  var ours: [Variant] { get }
  /// The ratio of the older library that the benchmark comes from, on a similar machine.
  var original: Double? { get }
  /// The clock that targets refer to.
  var clock: Clock { get }
}

/// The measured time.
package enum Clock: String, Codable {
  /// The processor time of the process, the best measure if no other process does part of the work.
  case processor
  /// The wall-clock time, for work that waits for a disk or a server.
  case wall
}

extension Scenario {
  package var record: Variant? { nil }
  package var others: [Variant] { [] }
  package var original: Double? { nil }
  package var clock: Clock { .processor }
}
