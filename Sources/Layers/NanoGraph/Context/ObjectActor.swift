// SPDX-License-Identifier: MIT

import Dispatch
import NanoEngine
public import NanoStoreCore

/// A context of its own on a thread of its own, for work beside the one that shows objects.
///
/// ```swift
/// let library = ObjectActor(store)
/// let id = try await library.perform { context in
///   let song = try context.insert(Song("Gin"))
///   try context.save()
///   return song.objectID!
/// }
/// ```
///
/// Contexts block while they read and save; here that keeps no thread of Swift's concurrency waiting. Objects
/// stay in the block; what leaves it is `Sendable`, such as an ``ObjectID``.
public actor ObjectActor {
  private let context: ObjectContext
  private let executor = QueueExecutor()

  /// - Parameter undoLevels: As in ``ObjectContext/init(_:undoLevels:)``.
  public init(_ store: Store, undoLevels: Int = 0) {
    context = ObjectContext(store, undoLevels: undoLevels)
  }

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Runs a block with the context, after those that were begun before it. Cancelling the task stops the
  /// statement that the block runs.
  ///
  /// - Throws: What the block throws; ``StoreError/Code/interrupted`` if it was stopped. Changes that it has not
  ///   saved stay in the context, for `rollback()` or another try.
  @discardableResult
  public func perform<Result: Sendable>(
    _ work: @Sendable (ObjectContext) throws -> Result
  ) async throws -> Result {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      return try interruption.stopping { try work(context) }
    } onCancel: {
      interruption.trigger()
    }
  }
}

/// Runs what an actor does on a queue that may block.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "NanoStore.objects")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
