// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore
public import NanoSync
public import Observation
import Synchronization

/// A running synchronization. It stops when the object is released.
///
/// It is observable: a view that reads ``status`` is updated when it changes.
///
/// ```swift
/// let sync = try store.replicate(["films"], with: .url("https://sync.example.com"))
/// sync.status.phase                  // .busy
/// for await status in sync.updates where status.phase == .idle { break }
/// await sync.stop()
/// ```
public final class Sync: Sendable, Observable {
  private struct State {
    var statuses: [SyncStatus]
    var streams: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
    var nextStream = 0
    var outcome: Result<Void, SyncError>?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state: Mutex<State>
  private let registrar = ObservationRegistrar()
  private let task = Mutex<Task<Void, Never>?>(nil)
  private let retries = ChangeSignal()

  init(_ connections: [SyncConnection], store: Store) {
    state = Mutex(State(statuses: connections.map { _ in SyncStatus() }))
    let runs = connections.enumerated().map { index, connection in
      SyncRun(connection: connection, retries: retries) { [weak self] change in
        self?.change(index, change)
      }
    }
    // The task does not keep the handle: releasing it stops the synchronization.
    let ended: @Sendable (Result<Void, SyncError>) -> Void = { [weak self] in self?.end($0) }
    task.withLock {
      $0 = Task.detached {
        let outcome = await withTaskGroup(of: Result<Void, SyncError>.self) { group in
          for run in runs { group.addTask { await run.run() } }
          var outcome = Result<Void, SyncError>.success(())
          for await result in group { if case .success = outcome { outcome = result } }
          return outcome
        }
        ended(outcome)
      }
    }
  }

  deinit {
    task.withLock { $0?.cancel() }
    // The task no longer reaches this object to end the streams. Nobody reads the outcome.
    end(.success(()))
  }

  /// The state of all collections together.
  public var status: SyncStatus {
    registrar.access(self, keyPath: \.status)
    return state.withLock { SyncStatus(merging: $0.statuses) }
  }

  /// The states from now on, beginning with the current one; the newest if several were not read. Ends when the
  /// synchronization has ended.
  public var updates: AsyncStream<SyncStatus> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SyncStatus.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      continuation.yield(SyncStatus(merging: state.statuses))
      guard state.outcome == nil else { return continuation.finish() }
      state.nextStream += 1
      let id = state.nextStream
      state.streams[id] = continuation
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.streams.removeValue(forKey: id) }
      }
    }
    return stream
  }

  /// Tries now to reach the other side again, for example when a network is back.
  public func retry() { retries.send() }

  /// Stops the synchronization, and waits until it has ended: within a second. What was transferred stays.
  public func stop() async {
    task.withLock { $0?.cancel() }
    await ended()
  }

  /// Waits until the synchronization has ended.
  ///
  /// - Returns: The last status, with documents that were not transferred in ``SyncStatus/failures``.
  /// - Throws: ``SyncError`` that ended it.
  @discardableResult
  public func finish() async throws -> SyncStatus {
    await withTaskCancellationHandler {
      await ended()
    } onCancel: {
      task.withLock { $0?.cancel() }
    }
    try Task.checkCancellation()
    try state.withLock { $0.outcome }?.get()
    return status
  }

  private func ended() async {
    await withCheckedContinuation { continuation in
      let isEnded = state.withLock { state in
        if state.outcome == nil { state.waiting.append(continuation) }
        return state.outcome != nil
      }
      if isEnded { continuation.resume() }
    }
  }

  private func change(_ index: Int, _ change: (inout SyncStatus) -> Void) {
    registrar.withMutation(of: self, keyPath: \.status) {
      state.withLock { state in
        change(&state.statuses[index])
        guard !state.streams.isEmpty else { return }
        let status = SyncStatus(merging: state.statuses)
        for stream in state.streams.values { stream.yield(status) }
      }
    }
  }

  private func end(_ outcome: Result<Void, SyncError>) {
    let (streams, waiting) = state.withLock { state in
      state.outcome = outcome
      defer {
        state.streams = [:]
        state.waiting = []
      }
      return (Array(state.streams.values), state.waiting)
    }
    for stream in streams { stream.finish() }
    for continuation in waiting { continuation.resume() }
  }
}
