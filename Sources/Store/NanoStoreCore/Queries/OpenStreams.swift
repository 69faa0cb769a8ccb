// SPDX-License-Identifier: MIT

import Synchronization

/// The streams of a store whose queries are running.
///
/// The reading thread of a stream waits for its consumer and keeps a connection meanwhile. So that the consumer can use
/// the store, streams leave it a connection, and closing the store ends them.
final class OpenStreams: Sendable {
  private struct State {
    var ends: [Int: @Sendable (any Error) -> Void] = [:]
    var lastNumber = 0
    /// The number of streams that keep a connection.
    var connections = 0
  }
  private let state = Mutex(State())

  /// Runs the query of a stream.
  ///
  /// - Parameter end: Ends the stream with an error. Called when the store is closed before the query ends.
  func run<Result>(
    endingWith end: @escaping @Sendable (any Error) -> Void, _ query: () throws -> Result
  ) rethrows -> Result {
    let number = state.withLock { state -> Int in
      state.lastNumber += 1
      state.ends[state.lastNumber] = end
      return state.lastNumber
    }
    defer { state.withLock { $0.ends[number] = nil } }
    return try query()
  }

  /// Runs a query that keeps a connection, if fewer than a maximum number of streams do; otherwise returns nil.
  func keepingConnection<Result>(
    atMost maximum: Int, _ query: () throws -> Result
  ) rethrows -> Result? {
    let isFree = state.withLock { state in
      guard state.connections < maximum else { return false }
      state.connections += 1
      return true
    }
    guard isFree else { return nil }
    defer { state.withLock { $0.connections -= 1 } }
    return try query()
  }

  func endAll(with error: any Error) {
    let ends = state.withLock { Array($0.ends.values) }
    for end in ends { end(error) }
  }
}
