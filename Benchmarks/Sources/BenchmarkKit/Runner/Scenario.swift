// SPDX-License-Identifier: MIT

/// One piece of work, done in several ways, and what each of them costs.
///
/// All variants of a scenario must give the same answer; the runner stops if they do not.
package protocol Scenario {
  /// The word for `--only`.
  var name: String { get }
  /// The work in words, for the tables.
  var work: String { get }
  /// What one operation is: times are given per operation.
  var unit: String { get }
  /// How many operations one round does.
  var operations: Int { get }

  /// What ratios are to: raw SQLite, as a careful C programmer would use it, if nothing else is said.
  var raw: Variant { get }
  /// What a user of GRDB would write with Codable records; nil if that was not written.
  var record: Variant? { get }
  /// Other ways, to compare with.
  var others: [Variant] { get }
  /// The ways our store does it.
  var ours: [Variant] { get }
  /// The ratio at which the older library stood whose benchmark this is, on a machine of this kind.
  var original: Double? { get }
  /// What targets are about.
  var clock: Clock { get }
}

/// What is compared.
package enum Clock: String, Codable {
  /// The processor time of the process, which says most where nobody else works for it.
  case processor
  /// The time on the wall, where a disk or a server is waited for.
  case wall
}

extension Scenario {
  package var record: Variant? { nil }
  package var others: [Variant] { [] }
  package var original: Double? { nil }
  package var clock: Clock { .processor }
}
