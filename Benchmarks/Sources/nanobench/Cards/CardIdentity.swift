// SPDX-License-Identifier: MIT

import NanoStore

/// What cards are known by, and with it whose benchmark is repeated: NanoStore had keys,
/// NTJsonStore row ids.
enum CardIdentity {
  case key
  case rowID

  /// Behind `--only`, in front of what is done.
  var prefix: String { self == .key ? "key" : "rowid" }
  /// Whose benchmark it is, for the tables.
  var library: String { self == .key ? "NanoStore" : "NTJsonStore" }

  var collection: CollectionIdentity { self == .key ? .key : .rowID }

  /// What a row is read as, beside its body.
  var columns: String { self == .key ? "id,key,body" : "id,body" }
}
