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
/// The queue whose turn the running code has. Calls in it run at once: waiting for a turn, of this
/// collection or of another one that waits for this, would never end.
final class QueueContext: @unchecked Sendable {
  @TaskLocal private static var innermost: QueueContext?
  private let queue: CollectionQueue
  private let thread = pthread_self()
  private var isActive = true

  private init(_ queue: CollectionQueue) { self.queue = queue }

  /// The queue whose turn this thread has; nil for tasks that the turn has started.
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
  /// Whether the running code need not wait for what is queued: it stands in a queued call, in a
  /// transaction, or in a call of the scheduler, which has waited already.
  var runsAtOnce: Bool {
    TransactionContext.current(of: self) != nil || QueueContext.current != nil
      || Interruption.current != nil
  }
}
