// SPDX-License-Identifier: MIT

/// What a transaction may see of concurrent ones.
///
/// It makes a difference only where transactions run concurrently, which is on a server. The guide to PostgreSQL lists
/// what each level prevents.
public enum Isolation: Sendable, Hashable, CaseIterable {
  /// The transactions have the same effect as if they ran one after the other.
  ///
  /// What a block reads is locked until it ends: single documents when it gets them, and the whole collection when it
  /// runs a query.
  case serializable
  /// Each call sees what is committed at that time, and locks only what it writes; in a store with bags, a deletion of
  /// the results of a query locks the collection.
  ///
  /// A document that was read may have changed when the block writes it; `replace(_:ifRevision:)` detects that.
  case readCommitted
}
