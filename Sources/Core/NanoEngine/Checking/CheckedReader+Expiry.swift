// SPDX-License-Identifier: MIT

/// Expirations.
extension CheckedReader {
  func expiringCollections() throws -> [String] {
    try checked { _ in try base.expiringCollections() }
  }
  func expirations(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: Int64] {
    try checked { check in
      let found = try base.expirations(ofRows: rowIDs, in: collection)
      check.require(found.count <= Set(rowIDs).count, .wrongResult)
      return found
    }
  }
  func earliestExpiration(after time: Int64?, in collection: String) throws -> Int64? {
    try checked { check in
      let found = try base.earliestExpiration(after: time, in: collection)
      if let found, let time { check.require(found > time, .wrongResult) }
      return found
    }
  }
}

extension CheckedWriter {
  var expiry: ExpiryLog {
    get { writer.expiry }
    set { writer.expiry = newValue }
  }
  func setExpirations(_ times: [(rowID: Int64, time: Int64?)], in collection: String) throws {
    try checked { _ in try writer.setExpirations(times, in: collection) }
  }
  func sweepExpired(limit: Int, from collection: String) throws -> Int {
    try checked {
      $0.requireCount(try writer.sweepExpired(limit: limit, from: collection), limit: limit)
    }
  }
}
