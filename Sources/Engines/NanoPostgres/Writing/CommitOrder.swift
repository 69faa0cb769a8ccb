// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// Reports the commits of one engine, whose responses may arrive in another order than the server committed them.
///
/// Each commit has a stamp of the server's sequence, taken while the transaction holds the locks of its documents. So of
/// two commits that changed a document, the later one has the larger stamp. A report of the earlier one that arrives
/// late omits the document.
final class CommitOrder: Sendable {
  private struct Row: Hashable {
    var collection: ExactName
    var rowID: Int64
  }
  private struct State {
    /// The stamp of the last report of each document, while an earlier commit may still be reported.
    var reported: [Row: Int64] = [:]
    var highest: Int64 = 0
    /// The highest stamp that was reported when each running commit began. Its own stamp is larger.
    var running: [Int: Int64] = [:]
    var last = 0
  }
  private let state = Mutex(State())

  /// Returns a number for a commit that begins.
  func begin() -> Int {
    state.withLock { state in
      state.last += 1
      state.running[state.last] = state.highest
      return state.last
    }
  }

  /// Ends a commit, and reports its changes.
  func end(_ number: Int, _ commit: Commit?, stamp: Int64, to commits: CommitBroadcast) {
    state.withLock { state in
      state.running[number] = nil
      if var commit {
        for index in commit.changes.indices {
          let name = commit.changes[index].collection.folded
          commit.changes[index].rows = commit.changes[index].rows?.filter { rowID, _ in
            let row = Row(collection: name, rowID: rowID)
            guard state.reported[row] ?? 0 < stamp else { return false }
            if !state.running.isEmpty { state.reported[row] = stamp }
            return true
          }
        }
        commit.changes.removeAll { $0.rows?.isEmpty == true }
        state.highest = max(state.highest, stamp)
        commits.post(commit)
      }
      prune(&state)
    }
  }

  private func prune(_ state: inout State) {
    if state.running.isEmpty {
      state.reported.removeAll(keepingCapacity: true)
    } else if state.reported.count > Self.maximumRows {
      let lowest = state.running.values.min() ?? 0
      state.reported = state.reported.filter { $0.value > lowest }
    }
  }

  /// Arbitrary.
  private static let maximumRows = 10_000
}
