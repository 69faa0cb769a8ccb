// SPDX-License-Identifier: MIT

import Dispatch
import NanoEngine

extension DocumentCollection {
  /// Starts a call without waiting for it.
  ///
  /// Calls on a collection are executed in the order in which they were started: later calls,
  /// queued or not, synchronous or asynchronous, wait for it.
  ///
  /// ```swift
  /// people.enqueue { try $0.insert(["name": "Ada"]) }
  /// let both = people.enqueue { people in
  ///   try people.insert(["name": "Grace"])
  ///   return try people.count()
  /// }
  /// try people.count()          // 2: after both
  /// try await both.value        // 2
  /// ```
  ///
  /// The block runs on a thread of the collection, concurrently with other collections. Calls
  /// inside it, and inside read and write blocks, run immediately. A block is not a transaction;
  /// use ``Store/write(retries:isolation:_:)-(_,_,()->_)`` for that. Collections without queued calls have no overhead.
  @discardableResult
  public func enqueue<Result: Sendable>(
    _ work: @escaping @Sendable (DocumentCollection) throws -> Result
  ) -> QueuedCall<Result> {
    let queue = store.queues.queue(name)
    let call = QueuedCall<Result>(queue, store)
    queue.submit { _ = call.run { try work(self) } }
    return call
  }

  /// Starts a call like ``enqueue(_:)`` and passes its result to a closure.
  ///
  /// ```swift
  /// people.enqueue(completingOn: .inLine) { try $0.insert(["name": "Ada"]) } completion: { result in
  ///   print(result)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - target: The context in which the completion runs. The default is
  ///     ``CompletionTarget/automatic``.
  ///   - work: The call.
  ///   - completion: Called exactly once, even if the call was canceled.
  @discardableResult
  public func enqueue<Result: Sendable>(
    completingOn target: CompletionTarget = .automatic,
    _ work: @escaping @Sendable (DocumentCollection) throws -> Result,
    completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) -> QueuedCall<Result> {
    let target = target.decided()
    let queue = store.queues.queue(name)
    let call = QueuedCall<Result>(queue, store)
    queue.submit {
      let outcome = call.run { try work(self) }
      target.run { completion(outcome) }
    }
    return call
  }

  /// Waits until all calls currently queued on the collection are done, including inline
  /// completions.
  ///
  /// Inside a queued call of the collection it returns immediately: all earlier calls are done. In a
  /// read or write block without a limit, and in a queued call for which a call of this collection
  /// waits, it returns immediately too, since it could wait forever.
  ///
  /// - Returns: False if not all of them are done: the time limit was reached first, or the call does
  ///   not wait.
  @discardableResult
  public func finishQueued(within limit: Duration? = nil) -> Bool {
    store.finishQueued([name], within: limit)
  }
  /// The asynchronous form of `finishQueued(within:)`, which does not block the calling thread.
  /// Throws `CancellationError` if the task is canceled first.
  @discardableResult
  public func finishQueued(within limit: Duration? = nil) async throws -> Bool {
    try await store.finishQueued([name], within: limit)
  }
}

extension Store {
  /// Waits until all calls currently queued on some collections, or on all, are done. Where waiting
  /// could last forever, it does not wait; see ``DocumentCollection/finishQueued(within:)-(Duration?)->Bool``.
  ///
  /// - Parameters:
  ///   - names: The collections; nil for all.
  ///   - limit: The maximum time to wait; nil for no limit.
  /// - Returns: False if not all of them are done.
  @discardableResult
  public func finishQueued(_ names: [String]? = nil, within limit: Duration? = nil) -> Bool {
    // The queued calls can need the lock that the block holds.
    let limit = TransactionContext.current(of: self) == nil ? limit : limit ?? .zero
    return queues.finish(names, limit.map(Self.deadline))
  }
  /// The asynchronous form of `finishQueued(_:within:)`, which does not block the calling thread.
  /// Throws `CancellationError` if the task is canceled first.
  @discardableResult
  public func finishQueued(
    _ names: [String]? = nil, within limit: Duration? = nil
  ) async throws -> Bool {
    try await queues.finish(names, limit.map(Self.deadline))
  }

  private static func deadline(_ limit: Duration) -> DispatchTime {
    let (seconds, attoseconds) = limit.components
    return .now() + Double(seconds) + Double(attoseconds) * 1e-18
  }
}
