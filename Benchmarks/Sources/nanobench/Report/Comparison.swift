// SPDX-License-Identifier: MIT

/// The names of the variants that have a column in the report.
///
/// A variant whose name adds a comma and the last words of a NanoStore variant, such as "two fields read", is
/// compared only with that one.
enum Comparison {
  static let realColumns = "raw SQLite C, real columns"
  static let handWritten = "GRDB hand-written record"
}
