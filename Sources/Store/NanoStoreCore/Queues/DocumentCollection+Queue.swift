// SPDX-License-Identifier: MIT

import Dispatch
import NanoEngine

extension DocumentCollection {
  /// Starts a call without waiting for it. Calls on a collection happen in the order in which they
  /// were started: what is called later, queued or not, with `await` or without, waits for it.
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
  /// The block runs on a thread of the collection, beside those of other collections, and calls in
  /// it run at once; so do those inside of read and write blocks. A block is no transaction:
  /// ``Store/write(_:)-(()->_)`` makes one. Collections on which nothing is queued pay nothing.
  @discardableResult
  public func enqueue<Result: Sendable>(
    _ work: @escaping @Sendable (DocumentCollection) throws -> Result
  ) -> QueuedCall<Result> {
    let queue = store.queues.queue(name)
    let call = QueuedCall<Result>(queue)
    queue.submit { _ = call.run { try work(self) } }
    return call
  }

  /// As ``enqueue(_:)``, and hands the outcome to a closure.
  ///
  /// ```swift
  /// people.enqueue(completingOn: .inLine) { try $0.insert(["name": "Ada"]) } completion: { result in
  ///   print(result)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - place: Where the completion runs; ``CompletionTarget/automatic`` if not given.
  ///   - completion: Called once, also for a call that was cancelled.
  @discardableResult
  public func enqueue<Result: Sendable>(
    completingOn place: CompletionTarget = .automatic,
    _ work: @escaping @Sendable (DocumentCollection) throws -> Result,
    completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) -> QueuedCall<Result> {
    let place = place.decided()
    let queue = store.queues.queue(name)
    let call = QueuedCall<Result>(queue)
    queue.submit {
      let outcome = call.run { try work(self) }
      place.run { completion(outcome) }
    }
    return call
  }

  /// Waits until everything that is queued on the collection now is done, completions in line
  /// included, and says whether it is: false if the time was over before.
  ///
  /// In a queued call of the collection it returns at once: what is before it is done.
  @discardableResult
  public func finishQueued(within limit: Duration? = nil) -> Bool {
    store.finishQueued([name], within: limit)
  }
  @discardableResult
  public func finishQueued(within limit: Duration? = nil) async throws -> Bool {
    try await store.finishQueued([name], within: limit)
  }
}

extension Store {
  /// Waits until everything that is queued now on some collections, or on all, is done, and says
  /// whether it is: false if the time was over before.
  ///
  /// - Parameter names: All collections if nil.
  @discardableResult
  public func finishQueued(_ names: [String]? = nil, within limit: Duration? = nil) -> Bool {
    queues.finish(names, limit.map(Self.deadline))
  }
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
