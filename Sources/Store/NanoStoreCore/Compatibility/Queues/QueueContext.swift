// SPDX-License-Identifier: MIT

import NanoEngine

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// @unchecked: `isActive` is touched only on `thread`.
/// The queue on whose thread the current code runs. Calls on it run immediately: waiting for a
/// turn, on this collection or on another that waits for this one, would deadlock.
final class QueueContext: @unchecked Sendable {
  @TaskLocal private static var innermost: QueueContext?
  private let queue: CollectionQueue
  private let thread = pthread_self()
  private var isActive = true

  private init(_ queue: CollectionQueue) { self.queue = queue }

  /// The queue on whose thread the current code runs; nil in tasks started by that code.
  static var current: CollectionQueue? {
    guard let context = innermost, pthread_equal(context.thread, pthread_self()) != 0,
      context.isActive
    else { return nil }
    return context.queue
  }

  static func run<Result>(
    in queue: CollectionQueue, _ work: () throws -> Result
  ) rethrows -> Result {
    let context = QueueContext(queue)
    defer { context.isActive = false }
    return try $innermost.withValue(context) { try work() }
  }
}

extension Store {
  /// Whether the current code need not wait for queued calls: it runs in a queued call, in a
  /// transaction, or in a call of the scheduler, which has already waited.
  var runsAtOnce: Bool {
    TransactionContext.current(of: self) != nil || QueueContext.current != nil
      || Interruption.current != nil
  }
}
