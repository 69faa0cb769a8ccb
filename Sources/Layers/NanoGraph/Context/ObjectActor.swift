// SPDX-License-Identifier: MIT

import Dispatch
import NanoEngine
public import NanoStoreCore

/// An actor with its own object context, for work outside of the main context.
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
/// Contexts block while they read and save. The actor runs them on its own queue, so that they
/// block no thread of Swift's cooperative pool. Objects cannot leave the block; return `Sendable`
/// values, such as an ``ObjectID``. The context does not follow the store, and its objects cannot be
/// observed.
public actor ObjectActor {
  private let context: ObjectContext
  private let executor = QueueExecutor()

  /// Creates an actor with a new context.
  ///
  /// - Parameter undoLevels: See ``ObjectContext/init(_:undoLevels:isLive:isolation:)``.
  public init(_ store: Store, undoLevels: Int = 0) {
    context = ObjectContext(store, undoLevels: undoLevels, isLive: false)
  }

  /// The executor of the actor's queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Runs a block with the context. Blocks run one at a time, in the order of their calls.
  /// Canceling the task interrupts the statement that the block executes.
  ///
  /// - Throws: Errors of the block; ``StoreError/Code/interrupted`` if a statement was interrupted.
  ///   Unsaved changes of the block remain in the context; call `rollback()` to discard them, or
  ///   save again.
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

/// An executor that runs an actor on a dispatch queue, which can block.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "NanoStore.objects")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
