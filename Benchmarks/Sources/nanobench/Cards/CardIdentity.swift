// SPDX-License-Identifier: MIT

import NanoStore

/// The identity of cards, which determines the benchmark that is repeated: NanoStore used keys, NTJsonStore row IDs.
enum CardIdentity {
  case key
  case rowID

  /// The prefix of scenario names for `--only`.
  var prefix: String { self == .key ? "key" : "rowid" }
  /// The older library, for the tables.
  var library: String { self == .key ? "NanoStore" : "NTJsonStore" }

  var collection: CollectionIdentity { self == .key ? .key : .rowID }

  /// The columns of a row.
  var columns: String { self == .key ? "id,key,body" : "id,body" }
}
