// SPDX-License-Identifier: MIT

public import Dispatch
import Synchronization

/// What tells of changes as they happen: ``DocumentUpdates`` and the like.
///
/// A loop over it never ends by itself. It ends normally when the store is closed, and with
/// `CancellationError` when its task is cancelled; either way, and when the loop is left, nothing of
/// it remains. It keeps the store open meanwhile, as a collection that is kept does.
public protocol LiveSequence<Element>: AsyncSequence, Sendable where Element: Sendable {}

extension LiveSequence {
  /// Calls a handler with each element, for programs without tasks.
  ///
  /// ```swift
  /// observation = people.find("[age] > 30").updates().observe(on: .main) { result in
  ///   if case .success(let people) = result { list.show(people) }
  /// }
  /// ```
  ///
  /// It runs on the queue, one call at a time. While it runs, nothing piles up: its next call gets the
  /// newest state. An error is handed over as the last call; closing the store ends the calls without
  /// one.
  ///
  /// - Returns: What ends the calls when it is cancelled or let go of, so keep it.
  public func observe(
    on queue: DispatchQueue,
    _ handler: @escaping @Sendable (Result<Element, any Error>) -> Void
  ) -> ObservationToken {
    ObservationToken(self, queue, handler)
  }
}

/// Keeps a handler registered until it is cancelled or released.
///
/// It is not called `Observation`: a type of that name hides the module that `@Observable` expands to.
public final class ObservationToken: Sendable {
  private let isCancelled = Flag()
  private let task: Task<Void, Never>

  fileprivate init<Updates: LiveSequence>(
    _ updates: Updates, _ queue: DispatchQueue,
    _ handler: @escaping @Sendable (Result<Updates.Element, any Error>) -> Void
  ) {
    let isCancelled = isCancelled
    @Sendable func call(_ result: Result<Updates.Element, any Error>) async {
      await withCheckedContinuation { continuation in
        queue.async {
          if !isCancelled.isSet { handler(result) }
          continuation.resume()
        }
      }
    }
    task = Task.detached {
      do {
        for try await element in updates { await call(.success(element)) }
      } catch is CancellationError {
      } catch {
        await call(.failure(error))
      }
    }
  }

  deinit { cancel() }

  /// Ends the calls. One that runs at this moment goes on; called on the queue of the handler, none
  /// comes after it.
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
