// SPDX-License-Identifier: MIT

import NanoEngine

/// What is known of the content of a row beside its document: its revision, and the states of the
/// database in which the row is known to hold it.
struct CachedContent {
  let revision: Int64
  /// One for each of four observers, 0 for none. Connections that read are lent last in, first out,
  /// so that four are many.
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

  /// Whether a reader with an old snapshot may have met this revision after the known one was read.
  /// Revisions are counted, except where another program wrote.
  func isAhead(of other: Int64) -> Bool {
    (1...Self.longestSnapshot).contains(revision &- other)
  }

  /// Writes of one document that a snapshot is behind at most. Arbitrary: it only decides which of two
  /// documents is kept.
  private static let longestSnapshot: Int64 = 65_536
}
