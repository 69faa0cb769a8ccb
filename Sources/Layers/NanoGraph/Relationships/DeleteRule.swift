// SPDX-License-Identifier: MIT

/// What happens to the objects at the other end of a relationship when an object is deleted.
public enum DeleteRule: Sendable, Hashable {
  /// They stay. References to the deleted object go.
  case nullify
  /// They are deleted too.
  case cascade
  /// As long as there are any, the object is not deleted.
  case deny
}
