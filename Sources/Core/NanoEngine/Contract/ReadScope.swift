// SPDX-License-Identifier: MIT

/// How the calls of a read block relate to one state of the database.
public enum ReadScope: Sendable, Hashable {
  /// Each call sees a consistent state, but different calls may see different states.
  case call
  /// All calls see the same state.
  case snapshot
  /// All calls see the same state, which may be out of date: an engine with replicas reads from them.
  case stale
}
