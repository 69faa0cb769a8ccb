// SPDX-License-Identifier: MIT

import NanoEngine

/// The rows that were found for keys and row IDs after the last commit, so that looking them up again reads nothing.
struct CurrentLookups {
  struct Found {
    let rowID: Int64
    let incarnation: Int64
    let revision: Int64
    /// The number of the commit after which the row was found.
    fileprivate let commit: UInt32
  }
  private var found: [Identity: Found] = [:]
  private var commit: CommitStamp?
  /// Increases with each commit, so that entries need not be removed.
  private var number: UInt32 = 0

  func find(_ identity: Identity, after commit: CommitStamp) -> Found? {
    guard commit == self.commit, let row = found[identity], row.commit == number else {
      return nil
    }
    return row
  }

  /// - Parameter limit: The number of entries above which outdated ones are removed.
  mutating func note(
    _ identity: Identity, _ rowID: Int64, _ version: ContentVersion, after commit: CommitStamp,
    limit: Int
  ) {
    if commit != self.commit {
      self.commit = commit
      number &+= 1
      // An entry with the same number would be that of another commit.
      if number == 0 { found.removeAll() }
    }
    if found.count >= limit { removeOutdated(limit) }
    found[identity] = Found(
      rowID: rowID, incarnation: version.incarnation, revision: version.revision, commit: number)
  }

  private mutating func removeOutdated(_ limit: Int) {
    found = found.filter { $0.value.commit == number }
    // Enough for the next ones, so that not every new entry removes others.
    if found.count > limit / 2 { found.removeAll() }
  }
}
