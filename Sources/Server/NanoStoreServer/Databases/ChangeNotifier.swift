// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore
import NanoSync
import Synchronization

/// Wakes the listeners of a database after changes, and when their time is up.
///
/// However many there are, they share one subscription to the store's commits, one look per second for writes of other
/// processes, one timer, and the reading of new changes. A listener costs a continuation.
final class ChangeNotifier: Sendable {
  /// Why a listener was woken.
  enum Wake: Sendable {
    case changed
    case due
    /// The server stops, the database is gone, or the listener's task was canceled.
    case ended
  }

  private struct Listener {
    var continuation: CheckedContinuation<Wake, Never>
    var deadline: ContinuousClock.Instant?
  }

  private struct PageKey: Hashable {
    var since: RevisionChange.Sequence?
    var limit: Int
  }

  private struct State {
    /// Increases with each possible change.
    var version = 0
    var nextID = 0
    var waiting: [Int: Listener] = [:]
    /// The number of feeds, waiting or not.
    var members = 0
    var watch: Task<Void, Never>?
    var timer: Task<Void, Never>?
    var timerDeadline: ContinuousClock.Instant?
    var isEnded = false
    /// Pages that listeners at one position read together.
    var pages: [PageKey: Task<RevisionChanges, any Error>] = [:]

    mutating func takeAll() -> [Listener] {
      defer { waiting.removeAll() }
      return Array(waiting.values)
    }
  }

  private let state = Mutex(State())
  private let database: SyncDatabase
  private let limit: WorkLimit

  /// Deadlines within this time are served together. Arbitrary; heartbeats are seconds apart.
  private static let timerSlack = Duration.milliseconds(50)
  /// Changes within this time wake listeners once. Arbitrary.
  private static let coalescing = Duration.milliseconds(10)
  /// The number of pages that are kept until the next change. Arbitrary.
  private static let maximumPages = 32

  init(_ database: SyncDatabase, _ limit: WorkLimit) {
    self.database = database
    self.limit = limit
  }

  /// Begins to watch the database if no other listener does. Each call needs one of ``leave()``.
  func join() {
    state.withLock { state in
      state.members += 1
      guard state.watch == nil, !state.isEnded else { return }
      state.watch = Task { [weak self] in await self?.watch() }
    }
  }

  func leave() {
    state.withLock { state in
      state.members -= 1
      guard state.members == 0 else { return }
      state.watch?.cancel()
      state.watch = nil
      state.pages.removeAll()
    }
  }

  /// The number of feeds.
  var members: Int { state.withLock { $0.members } }

  /// What ``wait(after:until:)`` compares with. Read it before reading changes.
  var version: Int { state.withLock { $0.version } }

  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Ends all feeds, and those that begin later.
  func end() {
    let waiting = state.withLock { state in
      state.isEnded = true
      state.watch?.cancel()
      state.watch = nil
      state.timer?.cancel()
      return state.takeAll()
    }
    for listener in waiting { listener.continuation.resume(returning: .ended) }
  }

  /// Waits for a change after a version.
  func wait(
    after version: Int, until deadline: ContinuousClock.Instant?, _ disconnection: Disconnection
  ) async -> Wake {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let cancel: @Sendable () -> Void = { [weak self] in
      self?.state.withLock { $0.waiting.removeValue(forKey: id) }?
        .continuation.resume(returning: .ended)
    }
    defer { disconnection.onClose(nil) }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let wake = state.withLock { state -> Wake? in
          if state.isEnded || Task.isCancelled { return .ended }
          if state.version != version { return .changed }
          state.waiting[id] = Listener(continuation: continuation, deadline: deadline)
          if let deadline { schedule(deadline, &state) }
          return nil
        }
        if let wake {
          continuation.resume(returning: wake)
        } else {
          disconnection.onClose(cancel)
        }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Returns a page of changes, which listeners at the same position read once.
  func page(since: RevisionChange.Sequence?, limit count: Int) async throws -> RevisionChanges {
    let key = PageKey(since: since, limit: count)
    let task = state.withLock { state in
      if let task = state.pages[key] { return task }
      let task = Task { [database, limit] in
        try await limit.run {
          try await database.store.onMaintenanceThread {
            try database.changes(since: since, limit: count)
          }
        }
      }
      if state.pages.count >= Self.maximumPages { state.pages.removeAll() }
      state.pages[key] = task
      return task
    }
    return try await task.value
  }

  private func notify() {
    let waiting = state.withLock { state in
      state.version += 1
      state.pages.removeAll()
      return state.takeAll()
    }
    for listener in waiting { listener.continuation.resume(returning: .changed) }
  }
}

// The timer.
extension ChangeNotifier {
  private func schedule(_ deadline: ContinuousClock.Instant, _ state: inout State) {
    if let planned = state.timerDeadline, planned <= deadline { return }
    state.timer?.cancel()
    state.timerDeadline = deadline
    state.timer = Task { [weak self] in
      guard (try? await Task.sleep(until: deadline, tolerance: Self.timerSlack)) != nil else {
        return
      }
      self?.fire()
    }
  }

  private func fire() {
    let now = ContinuousClock.now + Self.timerSlack
    let due = state.withLock { state in
      state.timerDeadline = nil
      var due: [Listener] = []
      var next: ContinuousClock.Instant?
      for (id, listener) in state.waiting {
        guard let deadline = listener.deadline else { continue }
        if deadline <= now {
          due.append(listener)
          state.waiting[id] = nil
        } else if next.map({ deadline < $0 }) ?? true {
          next = deadline
        }
      }
      if let next { schedule(next, &state) }
      return due
    }
    for listener in due { listener.continuation.resume(returning: .due) }
  }
}

// Looks for changes.
extension ChangeNotifier {
  private func watch() async {
    let commits = try? CommitSubscription(database.store)
    let wakes = database.changeSignal.changes()
    let names = [database.name, InternalCollection.revisions(of: database.name).rawValue]
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await _ in wakes {
          self.notify()
          try? await Task.sleep(for: Self.coalescing)
        }
      }
      if let commits {
        group.addTask {
          while !Task.isCancelled, let commit = await commits.next() {
            guard names.contains(where: { commit.change(in: $0) != nil }) else { continue }
            self.notify()
            try? await Task.sleep(for: Self.coalescing)
          }
        }
      }
      group.addTask { await self.poll() }
      await group.waitForAll()
    }
  }

  /// Looks each second for changes of which the store learns nothing: those of other processes.
  private func poll() async {
    var last = try? await end(from: nil)
    // Changes between a listener's first look and this one.
    notify()
    while (try? await Task.sleep(for: .seconds(1))) != nil {
      guard let next = try? await end(from: last) else { continue }
      if next != last {
        last = next
        notify()
      }
    }
  }

  private func end(
    from start: RevisionChange.Sequence?
  ) async throws -> RevisionChange.Sequence {
    try await limit.run { [database] in
      try await database.store.onMaintenanceThread { try database.lastSequence(from: start) }
    }
  }
}
