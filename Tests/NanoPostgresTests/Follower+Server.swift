// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoStorePostgres
import NanoTestSupport
import Testing

extension Follower {
  /// Reads until the follower knows the stored documents; transactions of other tests delay entries.
  func follow(_ films: DocumentCollection, limit: Int = 1_000) throws {
    try Faults.wait(for: "the entries") {
      do {
        try catchUp(films, limit: limit)
        var stored: [Int64: Int64] = [:]
        for document in try films.find().fetch() {
          stored[document.rowID!] = try Follower.value(of: document)
        }
        return values == stored
      } catch let error as StoreError where error.isRetryable {
        return false
      }
    }
  }
}
