// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import Synchronization

/// The queues of a store's collections, created on first use.
final class QueueRegistry: Sendable {
  private let queues = Mutex<[ExactName: CollectionQueue]>([:])
  private let count = Atomic(0)
  /// For each queue whose call waits for other queues, of any store, the one that it waits for now.
  private static let waits = Mutex<[ObjectIdentifier: CollectionQueue]>([:])

  /// Whether anything is queued in the store. This check is the only overhead when nothing is.
  @inline(__always)
  var isBusy: Bool { count.load(ordering: .acquiring) > 0 }

  func begin() { count.add(1, ordering: .acquiringAndReleasing) }
  func end() { count.subtract(1, ordering: .acquiringAndReleasing) }

  func queue(_ name: String) -> CollectionQueue {
    let folded = name.folded
    return queues.withLock { queues in
      if let queue = queues[folded] { return queue }
      let queue = CollectionQueue(folded.text, self)
      queues[folded] = queue
      return queue
    }
  }

  /// Returns the queues of some collections, or of all, except the one on whose thread the current
  /// code runs.
  private func queues(_ names: [String]?) -> [CollectionQueue] {
    let current = QueueContext.current
    let all = queues.withLock { queues in
      names.map { $0.compactMap { queues[$0.folded] } } ?? Array(queues.values)
    }
    return all.filter { $0 !== current }
  }

  /// Waits until queued calls are done, at most until the deadline, and returns whether they are. Does not wait for a
  /// queue whose call waits for the one on whose thread the current code runs.
  func finish(_ names: [String]?, _ deadline: DispatchTime?) -> Bool {
    guard isBusy else { return true }
    var isFinished = true
    for queue in queues(names) {
      let canWait = Self.beginWaiting(for: queue)
      defer { Self.endWaiting() }
      let done = DispatchSemaphore(value: 0)
      guard let waiter = queue.notify({ if $0 { done.signal() } }) else { continue }
      guard let deadline = canWait ? deadline : .now() else {
        done.wait()
        continue
      }
      if done.wait(timeout: deadline) == .timedOut {
        queue.giveUp(waiter)
        isFinished = false
      }
    }
    return isFinished
  }

  /// Notes that the call on whose thread the current code runs waits for a queue.
  ///
  /// - Returns: False if that queue waits for the call, directly or not.
  static func beginWaiting(for queue: CollectionQueue) -> Bool {
    guard let current = QueueContext.current else { return true }
    return waits.withLock { waits in
      var next: CollectionQueue? = queue
      while let waiting = next, waiting !== current { next = waits[ObjectIdentifier(waiting)] }
      guard next == nil else { return false }
      waits[ObjectIdentifier(current)] = queue
      return true
    }
  }

  static func endWaiting() {
    guard let current = QueueContext.current else { return }
    waits.withLock { $0[ObjectIdentifier(current)] = nil }
  }

  func finish(_ names: [String]?, _ deadline: DispatchTime?) async throws -> Bool {
    guard isBusy else { return true }
    var isFinished = true
    for queue in queues(names) {
      if try await !Self.finish(queue, deadline) { isFinished = false }
    }
    return isFinished
  }

  private static func finish(
    _ queue: CollectionQueue, _ deadline: DispatchTime?
  ) async throws -> Bool {
    let number = Mutex<Int?>(nil)
    let isFinished = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = queue.notify { continuation.resume(returning: $0) }
        guard let waiter else { return continuation.resume(returning: true) }
        number.withLock { $0 = waiter }
        if let deadline {
          DispatchQueue.global().asyncAfter(deadline: deadline) { queue.giveUp(waiter) }
        }
        if Task.isCancelled { queue.giveUp(waiter) }
      }
    } onCancel: {
      if let waiter = number.withLock({ $0 }) { queue.giveUp(waiter) }
    }
    if !isFinished { try Task.checkCancellation() }
    return isFinished
  }
}
