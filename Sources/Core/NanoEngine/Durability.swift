// SPDX-License-Identifier: MIT

/// The guarantee that a commit gives.
///
/// An engine without one of the levels uses the next stronger one.
public enum Durability: String, Sendable, Hashable, CaseIterable {
  /// SQLite: no syncing. A power failure can corrupt the file; killing the process cannot. PostgreSQL: the same
  /// as ``normal``.
  case fast
  /// Survives a killed process, on PostgreSQL a disconnected client. After a power failure, or a crash of the
  /// server, the last commits may be missing, but what is left is a prefix of the committed transactions.
  case normal
  /// Every acknowledged commit survives a power failure, on PostgreSQL on the disk of the server and on those of
  /// its synchronous standbys.
  case full
}
