// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// What is known of the contents of a row beside the document: its revision, and the states of the
/// database in which it is known to hold it.
struct KnownContent {
  let revision: Int64
  /// One for each of four observers. Connections that read are lent last in, first out, so that four
  /// are many.
  private var states: (CommittedState?, CommittedState?, CommittedState?, CommittedState?)

  init(revision: Int64, in state: CommittedState?) {
    self.revision = revision
    if let state { note(state) }
  }

  @inline(__always)
  func isKnown(in state: CommittedState) -> Bool {
    switch state.observer & 3 {
    case 0: states.0 == state
    case 1: states.1 == state
    case 2: states.2 == state
    default: states.3 == state
    }
  }

  @inline(__always)
  mutating func note(_ state: CommittedState) {
    switch state.observer & 3 {
    case 0: states.0 = state
    case 1: states.1 = state
    case 2: states.2 = state
    default: states.3 = state
    }
  }

  /// Whether a reader with an old snapshot may have met this revision after the known one was read.
  /// Revisions are counted, except where another program wrote.
  func isAhead(of other: Int64) -> Bool {
    let distance = revision &- other
    return (1...Self.longestSnapshot).contains(distance)
  }

  /// Writes of one document that a snapshot is behind at most. Arbitrary: it only decides which of two
  /// documents is kept.
  private static let longestSnapshot: Int64 = 65_536
}
