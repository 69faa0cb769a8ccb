// SPDX-License-Identifier: MIT

import NanoStore

extension Document? {
  /// One for a document, none without.
  var found: Int { self == nil ? 0 : 1 }
}

extension [Document] {
  /// What tells whether two engines found the same: both gave row ids in the order of insertion.
  var rowIDs: Int { reduce(count) { $0 &* 31 &+ Int($1.rowID ?? 0) } & 0xFFFF_FFFF }
}

extension [AggregateRow] {
  /// What tells whether two engines computed the same, but for the last bits of doubles.
  var digest: Int {
    reduce(count) { sum, row in
      sum + row.values.reduce(0) { $0 + Int(($1.double ?? 0) * 1_000) }
    }
  }
}
