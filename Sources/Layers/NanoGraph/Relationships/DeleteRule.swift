// SPDX-License-Identifier: MIT

/// The effect of deleting an object on the objects at the other end of a relationship.
public enum DeleteRule: Sendable, Hashable {
  /// The related objects are kept, and their references to the deleted object are removed.
  case nullify
  /// The related objects are deleted too.
  case cascade
  /// The object cannot be deleted while it has related objects.
  case deny
}
