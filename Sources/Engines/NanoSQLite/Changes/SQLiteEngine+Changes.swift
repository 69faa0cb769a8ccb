// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine
import NanoSQL

extension SQLiteEngine {
  /// Commits of other connections and processes are seen within
  /// ``SQLiteConfiguration/changeInterval``: while there is an observer, SQLite's `data_version` is
  /// asked for that often. Where the file cannot be another's, in memory and in temporary databases,
  /// nothing is asked.
  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    guard !hasClosed else { throw Self.closed }
    guard path != nil else { return commits.observe(handler) }
    // Before the handler is there: from here on, what others commit is another version. If the
    // connection is not free, the next look may take everything for changed.
    lookForOthers()
    let observation = commits.observe(handler)
    let watching = watch.begin { [weak self] in self?.lookForOthers() }
    return CommitObservation {
      observation.cancel()
      watching.cancel()
    }
  }

  /// Tells observers if another connection has committed. If the writing connection is busy, it
  /// sees for itself when it begins, or the next look does.
  private func lookForOthers() {
    var isOthers = false
    ifWriterIsFree { connection in
      // Observers read again and get the error.
      isOthers = (try? requireSameFile()) == nil
      isOthers = isOthers || (try? connection.hasOthersCommitted()) ?? true
      if isOthers { commits.post(.everything) }
    }
    // Only then: what writers post, they tell themselves.
    if isOthers { commits.deliver() }
  }

  /// What is to be told of a transaction that is about to be committed.
  func changes(_ connection: SQLiteConnection) throws -> Commit? {
    guard let recorder = connection.recorder else { return nil }
    if recorder.seesAll == nil || !connection.isUnchanged {
      recorder.seesAll = try !connection.hasForeignTriggers()
    }
    guard recorder.seesAll == true || recorder.isEmpty else { return .everything }
    try recorder.resolve { name in
      try connection.first(
        SQLFragment("SELECT 1 FROM nano_collections WHERE name = ?", [.text(name)])
      ) { _ in true } ?? false
    }
    return recorder.commit
  }

  /// Called after the commit, while the writing connection is ours.
  func post(_ commit: Commit?, _ connection: SQLiteConnection) {
    // Unless a look has told of the others' commit before this transaction began.
    let isOthers =
      connection.sawOtherWriter && (try? connection.hasOthersCommitted()) ?? true
    // Nothing was written down if the observer came when the transaction ran already.
    commits.post(isOthers ? .everything : commit ?? .everything)
  }
}

extension SQLiteConnection {
  /// Whether another connection has committed since this was asked last; true the first time.
  func hasOthersCommitted() throws -> Bool {
    let version = try versionOfOthers()
    defer { othersVersion = version }
    return version != othersVersion
  }

  /// Whether there are triggers of other programs. What they replace or empty is not shown.
  func hasForeignTriggers() throws -> Bool {
    try first(
      SQLFragment(
        "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name NOT LIKE 'nano\\_%' ESCAPE '\\'"
      )
    ) { _ in true } ?? false
  }

  /// Another number after each commit of another connection, the same one after ours
  /// (https://www.sqlite.org/pragma.html#pragma_data_version).
  private func versionOfOthers() throws -> Int64? {
    try first(SQLFragment("PRAGMA data_version")) { $0.int(0) }
  }
}
