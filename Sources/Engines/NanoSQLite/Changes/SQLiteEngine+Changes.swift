// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine
import NanoSQL

extension SQLiteEngine {
  /// Commits of other connections and processes are detected within ``SQLiteConfiguration/changeInterval``:
  /// while there is an observer, SQLite's `data_version` is polled at that interval. In-memory and temporary
  /// databases cannot be shared, so they are not polled.
  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    guard !hasClosed else { throw Self.closed }
    guard path != nil else { return commits.observe(handler) }
    // Runs before the handler is registered: every later commit of another connection has a different version.
    // If the connection is busy, the next poll may report that everything changed.
    checkForOtherCommits()
    let observation = commits.observe(handler)
    let polling = poller.begin { [weak self] in self?.checkForOtherCommits() }
    return CommitObservation {
      observation.cancel()
      polling.cancel()
    }
  }

  /// Notifies observers if another connection has committed. If the writing connection is busy, its next
  /// transaction or the next poll detects the commit.
  private func checkForOtherCommits() {
    var hasOtherCommits = false
    ifWriterIsFree { connection in
      // Observers read again and receive the error.
      let isReplaced = (try? requireSameFile()) == nil
      hasOtherCommits = isReplaced || (try? connection.hasOthersCommitted()) ?? true
      guard hasOtherCommits else { return }
      let commit = isReplaced ? .everything : connection.otherCommits.read(connection)
      hasOtherCommits = commit.isReported
      if hasOtherCommits { commits.post(commit) }
    }
    // Only in this case: writers deliver their own commits.
    if hasOtherCommits { commits.deliver() }
  }

  /// Returns the changes to report for a transaction that is about to be committed.
  func changes(_ connection: SQLiteConnection) throws -> Commit? {
    guard let recorder = connection.recorder else { return nil }
    if recorder.seesAllChanges == nil || !connection.isUnchanged {
      recorder.seesAllChanges = try !connection.hasForeignTriggers()
    }
    guard recorder.seesAllChanges == true || recorder.isEmpty else { return .everything }
    try recorder.resolve { name in
      try connection.first(
        SQLFragment("SELECT 1 FROM nano_collections WHERE name = ?", [.text(name)])
      ) { _ in true } ?? false
    }
    return recorder.commit
  }

  /// Called after the commit, while the caller still holds the writing connection.
  func post(_ commit: Commit?, _ connection: SQLiteConnection) {
    // Unless a poll already reported the other connection's commit before this transaction began.
    let hasOtherCommits =
      connection.sawOtherWriter && (try? connection.hasOthersCommitted()) ?? true
    // Nothing was recorded if the observer was registered while the transaction was running.
    var changes = commit ?? .everything
    if hasOtherCommits { changes.merge(connection.otherCommits.read(connection)) }
    commits.post(changes)
  }
}

extension SQLiteConnection {
  /// Returns whether another connection has committed since the last call; `true` on the first call.
  func hasOthersCommitted() throws -> Bool {
    let version = try versionOfOthers()
    defer { othersVersion = version }
    return version != othersVersion
  }

  /// Whether other programs have defined triggers. The update hook does not report what these replace or
  /// truncate.
  func hasForeignTriggers() throws -> Bool {
    try first(SQLFragment(Schema.otherTriggers)) { _ in true } ?? false
  }

  /// A number that changes with each commit of another connection but not with this connection's own commits
  /// (https://www.sqlite.org/pragma.html#pragma_data_version).
  private func versionOfOthers() throws -> Int64? {
    try first(SQLFragment("PRAGMA data_version")) { $0.int(0) }
  }
}
