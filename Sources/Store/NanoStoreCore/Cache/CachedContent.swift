// SPDX-License-Identifier: MIT

import NanoEngine

/// The revision of a cached row, and the database states in which it is known to be current.
struct CachedContent {
  let revision: Int64
  /// One state for each of four observers; 0 for none. Reading connections are reused in last-in,
  /// first-out order, so four are plenty.
  private var states: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  init(revision: Int64, in state: CommittedState?) {
    self.revision = revision
    if let state { note(state) }
  }

  @inline(__always)
  func isKnown(in state: CommittedState) -> Bool {
    let known =
      switch state.observer & 3 {
      case 0: states.0
      case 1: states.1
      case 2: states.2
      default: states.3
      }
    return known == Self.bits(state)
  }

  @inline(__always)
  mutating func note(_ state: CommittedState) {
    let bits = Self.bits(state)
    switch state.observer & 3 {
    case 0: states.0 = bits
    case 1: states.1 = bits
    case 2: states.2 = bits
    default: states.3 = bits
    }
  }

  @inline(__always)
  private static func bits(_ state: CommittedState) -> UInt64 {
    UInt64(state.observer) << 32 | UInt64(state.count)
  }

  /// Whether a reader with an older snapshot may have seen the other revision after this one was
  /// cached. Revisions increase by one, except where another program wrote.
  func isAhead(of other: Int64) -> Bool {
    (1...Self.longestSnapshot).contains(revision &- other)
  }

  /// The maximum number of writes of one document that a snapshot may be behind. Arbitrary: it only
  /// decides which of two documents is cached.
  private static let longestSnapshot: Int64 = 65_536
}
