// SPDX-License-Identifier: MIT

/// One piece of work, done by raw SQLite, by GRDB records and by us, and what each of them costs.
///
/// All variants of a scenario must give the same answer; the runner stops if they do not.
protocol Scenario {
  /// The word for `--only`.
  var name: String { get }
  /// The work in words, for the tables.
  var work: String { get }
  /// What one operation is: times are given per operation.
  var unit: String { get }
  /// How many operations one round does.
  var operations: Int { get }

  /// Raw SQLite, as a careful C programmer would use it. Ratios are to this one.
  var raw: Variant { get }
  /// What a user of GRDB would write with Codable records; nil if that was not written.
  var record: Variant? { get }
  /// Other ways, to compare with.
  var others: [Variant] { get }
  /// The ways our store does it.
  var ours: [Variant] { get }
  /// The ratio at which the older library stood whose benchmark this is, on a machine of this kind.
  var original: Double? { get }
}

extension Scenario {
  var record: Variant? { nil }
  var others: [Variant] { [] }
  var original: Double? { nil }
}
