// SPDX-License-Identifier: MIT

import NanoStore
import Synchronization
import Testing

/// Records every element of a live sequence in a separate task.
final class UpdateRecorder<Updates: LiveSequence>: Sendable {
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

  /// - Parameter pause: Called after each element to simulate a slow loop.
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

  /// Waits until the recorded elements satisfy a condition.
  func wait(
    _ location: SourceLocation = #_sourceLocation, until isDone: (State) throws -> Bool
  ) async throws {
    try await eventually("expected elements", location) {
      try isDone(shared.state.withLock { $0 })
    }
  }
}

/// Waits until a condition holds. The limit of attempts only keeps a failing test from
/// hanging.
func eventually(
  _ condition: String, _ location: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, _ isDone: () throws -> Bool
) async throws {
  for _ in 0..<40_000 {
    if try isDone() { return }
    try await Task.sleep(for: .milliseconds(5))
  }
  Issue.record("Timed out waiting for: \(condition)", sourceLocation: location)
}

extension Document {
  /// Identifiers, revision, and content as text.
  var summary: String {
    get throws { "\(rowID ?? 0) \(key ?? "-") \(revision ?? -1) \(try object())" }
  }
}

func summaries(_ documents: [Document]) throws -> [String] {
  try documents.map { try $0.summary }
}
