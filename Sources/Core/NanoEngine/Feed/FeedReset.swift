// SPDX-License-Identifier: MIT

/// Why a reader of a change feed must start again from the beginning.
public enum FeedReset: String, Sendable, Hashable, CaseIterable, Codable {
  /// The collection was created again, or its tracking was turned off and on: the position belongs to a feed that
  /// no longer exists.
  case restarted
  /// The store was restored from a backup, or its file was replaced by an older one: the reader has seen changes
  /// that the store does not have.
  case restored
  /// The deletion at the position, or deletions after it, were pruned.
  case pruned
}
