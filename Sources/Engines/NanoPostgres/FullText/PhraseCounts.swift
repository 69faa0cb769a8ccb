// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import Synchronization

/// A cache of document frequencies: the number of documents that contain a token, which the server would otherwise
/// count for each search.
///
/// An entry belongs to a state of the statistics of its index, which changes with every change of tokens, and is never
/// the same for two states.
final class PhraseCounts: Sendable {
  private struct Entry {
    var state: Int64
    var counts: [ExactName: Int] = [:]
  }
  /// By the tables of statistics.
  private let entries = Mutex<[String: Entry]>([:])

  /// Arbitrary.
  private static let maximumTokens = 1_000
  private static let maximumIndexes = 100

  func count(_ token: String, _ table: String, state: Int64) -> Int? {
    entries.withLock { entries in
      guard let entry = entries[table], entry.state == state else { return nil }
      return entry.counts[ExactName(token)]
    }
  }

  func store(_ count: Int, _ token: String, _ table: String, state: Int64) {
    entries.withLock { entries in
      if entries[table]?.state != state {
        if entries.count >= Self.maximumIndexes { entries.removeAll() }
        entries[table] = Entry(state: state)
      }
      if entries[table]?.counts.count ?? 0 >= Self.maximumTokens { entries[table]?.counts = [:] }
      entries[table]?.counts[ExactName(token)] = count
    }
  }
}
