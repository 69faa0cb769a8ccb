// SPDX-License-Identifier: MIT

import NanoStore
import Synchronization
import Testing

/// Takes everything that a live sequence gives, in a task of its own.
final class Follower<Updates: LiveSequence>: Sendable {
  struct State {
    var values: [Updates.Element] = []
    var error: (any Error)?
    var isOver = false
  }
  private let shared: Shared
  private let task: Task<Void, Never>

  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  /// - Parameter pause: Called after each element, for a loop that takes its time.
  init(_ updates: Updates, _ pause: @escaping @Sendable () async -> Void = {}) {
    let shared = Shared()
    self.shared = shared
    task = Task {
      do {
        for try await value in updates {
          shared.state.withLock { $0.values.append(value) }
          await pause()
        }
      } catch {
        shared.state.withLock { $0.error = error }
      }
      shared.state.withLock { $0.isOver = true }
    }
  }

  deinit { task.cancel() }

  var values: [Updates.Element] { shared.state.withLock { $0.values } }
  var error: (any Error)? { shared.state.withLock { $0.error } }
  func cancel() { task.cancel() }
  func finish() async { await task.value }

  /// Waits until what was given so far is as it should be.
  func wait(
    _ location: SourceLocation = #_sourceLocation, until isDone: (State) throws -> Bool
  ) async throws {
    try await eventually("what was given", location) { try isDone(shared.state.withLock { $0 }) }
  }
}

/// Waits for what must come. How long it takes is nobody's business, only that it does not take
/// forever.
func eventually(
  _ what: String, _ location: SourceLocation = #_sourceLocation,
  _ isDone: () throws -> Bool
) async throws {
  for _ in 0..<6_000 {
    if try isDone() { return }
    try await Task.sleep(for: .milliseconds(5))
  }
  Issue.record("Never came about: \(what)", sourceLocation: location)
}

extension Document {
  /// Everything that can be seen of it.
  var shown: String {
    get throws { "\(rowID ?? 0) \(key ?? "-") \(revision ?? -1) \(try object())" }
  }
}

func shown(_ documents: [Document]) throws -> [String] { try documents.map { try $0.shown } }
