// SPDX-License-Identifier: MIT

public import Dispatch
import Synchronization

/// An asynchronous sequence that reports changes as they happen, such as ``DocumentUpdates``.
///
/// A loop over it does not end by itself. It ends normally when the store is closed, and with
/// `CancellationError` when its task is canceled. When the loop ends, for whatever reason, all its
/// resources are released. Like a collection, it retains the store meanwhile.
public protocol LiveSequence<Element>: AsyncSequence, Sendable where Element: Sendable {}

extension LiveSequence {
  /// Calls a handler on the main actor with each element, for views and programs without tasks.
  ///
  /// ```swift
  /// token = try people.find("[age] > 30").updates().observe { result in
  ///   if case .success(let people) = result { list.show(people) }
  /// }
  /// ```
  ///
  /// One call runs at a time. While it runs, nothing accumulates: the next call receives the newest
  /// state. An error is passed to the last call; closing the store ends the calls without one.
  ///
  /// No commit after the call is missed. The first observation of a store on a server asks the server for its position.
  /// For ``DocumentCollection/changes()``, it does so before the call returns: begin it outside of blocks that may use
  /// all connections.
  ///
  /// - Returns: A token that ends the calls when it is canceled or released, so keep it.
  public func observe(
    _ handler: @escaping @MainActor @Sendable (Result<Element, any Error>) -> Void
  ) -> ObservationToken {
    ObservationToken(self) { result, isCancelled in
      await MainActor.run { if !isCancelled() { handler(result) } }
    }
  }

  /// Calls a handler on a queue instead of the main actor; see ``observe(_:)``.
  public func observe(
    on queue: DispatchQueue,
    _ handler: @escaping @Sendable (Result<Element, any Error>) -> Void
  ) -> ObservationToken {
    ObservationToken(self) { result, isCancelled in
      await withCheckedContinuation { continuation in
        queue.async {
          if !isCancelled() { handler(result) }
          continuation.resume()
        }
      }
    }
  }
}

/// Keeps a handler registered until it is canceled or released.
///
/// It is not called `Observation`: a type of that name hides the module that `@Observable` expands to.
public final class ObservationToken: Sendable {
  private let isCancelled = Flag()
  private let task: Task<Void, Never>

  /// - Parameter call: Calls the handler in its context, unless the token has been canceled.
  fileprivate init<Updates: LiveSequence>(
    _ updates: Updates,
    _ call:
      @escaping @Sendable (
        Result<Updates.Element, any Error>, _ isCancelled: @escaping @Sendable () -> Bool
      ) async -> Void
  ) {
    let isCancelled = isCancelled
    let isSet: @Sendable () -> Bool = { isCancelled.isSet }
    // Created here, so that a feed misses no commit that follows.
    let iterator = SendingBox(updates.makeAsyncIterator())
    task = Task.detached {
      do {
        var iterator = iterator.take()
        while let element = try await iterator.next() { await call(.success(element), isSet) }
      } catch is CancellationError {
      } catch {
        await call(.failure(error), isSet)
      }
    }
  }

  deinit { cancel() }

  /// Cancels the observation. A running call completes; after a call from the handler's queue or
  /// actor, no further call starts.
  public func cancel() {
    isCancelled.set()
    task.cancel()
  }

  private final class Flag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
  }
}
