// SPDX-License-Identifier: MIT

import NanoStoreCore
import Synchronization

/// Wakes those who wait for the next change.
package final class ChangeSignal: Sendable {
  private struct Waiting {
    var streams: [Int: AsyncStream<Void>.Continuation] = [:]
    var next = 0
  }
  private let waiting = Mutex(Waiting())

  package init() {}

  /// Returns a stream with an element after changes, which may stand for several. Canceling a task that reads it ends it.
  package func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = waiting.withLock { waiting in
      waiting.next += 1
      waiting.streams[waiting.next] = continuation
      return waiting.next
    }
    continuation.onTermination = { [weak self] _ in
      self?.waiting.withLock { _ = $0.streams.removeValue(forKey: id) }
    }
    return stream
  }

  package func send() {
    for continuation in waiting.withLock({ Array($0.streams.values) }) { continuation.yield() }
  }
}

/// The changes of a database from now on, whichever process makes them, for one reader.
final class DatabaseChanges: Sendable {
  private let stream: AsyncStream<Void>
  private let tasks: [Task<Void, Never>]

  /// Changes of other processes that concern only the records have no commit that is reported. Arbitrary.
  private static let pollInterval = Duration.seconds(1)

  /// - Throws: ``StoreError/Code/closed``.
  init(_ database: SyncDatabase) throws {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.stream = stream
    let wakes = database.changeSignal.changes()
    let commits = try CommitSubscription(database.store)
    let name = database.name
    tasks = [
      Task { for await _ in wakes { continuation.yield() } },
      Task {
        while let commit = await commits.next() {
          if commit.change(in: name) != nil { continuation.yield() }
        }
        // The store was closed; the next call throws.
        continuation.finish()
      },
      Task {
        while !Task.isCancelled {
          try? await Task.sleep(for: Self.pollInterval)
          continuation.yield()
        }
      },
    ]
  }

  deinit { for task in tasks { task.cancel() } }

  /// Waits for the next change, or about a second. A reader that was canceled cannot wait again.
  func next() async throws {
    var iterator = stream.makeAsyncIterator()
    await iterator.next()
    try Task.checkCancellation()
  }
}
