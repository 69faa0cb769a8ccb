// SPDX-License-Identifier: MIT

import NanoStore

extension Document? {
  /// 1 for a document, 0 for nil.
  var found: Int { self == nil ? 0 : 1 }
}

extension [Document] {
  /// A digest for comparing results. Both engines assigned row IDs in insertion order.
  var rowIDs: Int { reduce(count) { $0 &* 31 &+ Int($1.rowID ?? 0) } & 0xFFFF_FFFF }
}

extension [AggregateRow] {
  /// A digest for comparing results, insensitive to the last bits of doubles.
  var digest: Int {
    reduce(count) { sum, row in
      sum + row.values.reduce(0) { $0 + Int(($1.double ?? 0) * 1_000) }
    }
  }
}
