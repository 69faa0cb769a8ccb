// SPDX-License-Identifier: MIT

import Synchronization

/// Limits how many blocking calls run at the same time. Each has a thread; more would only wait for a connection.
final class WorkLimit: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
    var first = 0
  }
  private let state: Mutex<State>

  init(_ limit: Int) { state = Mutex(State(free: limit)) }

  func run<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
    await acquire()
    defer { release() }
    try Task.checkCancellation()
    return try await work()
  }

  private func acquire() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free == 0 else {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private func release() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.first < state.waiting.count else {
        state.waiting.removeAll()
        state.first = 0
        state.free += 1
        return nil
      }
      state.first += 1
      // Those that were resumed are removed together, so that a long queue costs little.
      let next = state.waiting[state.first - 1]
      if state.first > 1_000 {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
      return next
    }
    next?.resume()
  }
}
