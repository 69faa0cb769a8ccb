// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// @unchecked: accessed only on `thread`. Other tasks may inherit the task-local value, but
// `current(of:)` ignores it there.
/// The transaction whose block is running, so that every call in the block takes part in it.
final class TransactionContext: @unchecked Sendable {
  @TaskLocal private static var innermost: TransactionContext?

  let reader: any EngineReader
  let writer: (any EngineWriter)?
  private let store: ObjectIdentifier
  private let outer: TransactionContext?
  private let thread = pthread_self()
  private var isActive = true
  /// The actions to run if the writes are rolled back.
  let rollbackActions: RollbackActions?
  /// Whether the database holds references to documents; nil until it is first checked.
  var hasReferences: Bool?
  /// The batch being written, some documents of which the engine may not have received yet.
  var batch: DocumentBatch?

  private init(
    _ store: Store, _ reader: any EngineReader, _ writer: (any EngineWriter)?,
    _ rollbackActions: RollbackActions?, _ outer: TransactionContext?
  ) {
    self.store = ObjectIdentifier(store)
    self.reader = reader
    self.outer = outer
    self.writer = writer
    self.rollbackActions = rollbackActions
  }

  /// Returns the running transaction of this store, or nil if there is none.
  @inline(__always)
  static func current(of store: Store) -> TransactionContext? {
    var context = innermost
    while let candidate = context {
      // A task started inside the block runs on other threads, concurrently with the transaction or
      // after it.
      if pthread_equal(candidate.thread, pthread_self()) != 0, candidate.isActive,
        candidate.store == ObjectIdentifier(store)
      {
        candidate.batch?.prepareForUse()
        return candidate
      }
      context = candidate.outer
    }
    return nil
  }

  /// Whether the block may only read, but sees documents that were written for it and will be rolled back.
  var seesBufferedSaves: Bool { writer == nil && reader is any EngineWriter }

  /// Runs a block that may only read, even if buffered documents were written for it and will be
  /// rolled back.
  static func reading<Result>(
    _ store: Store, _ reader: any EngineReader, _ work: () throws -> Result
  ) throws -> Result {
    try run(TransactionContext(store, reader, nil, nil, innermost), work)
  }

  static func writing<Result>(
    _ store: Store, _ writer: any EngineWriter, _ rollbackActions: RollbackActions,
    _ work: () throws -> Result
  ) throws -> Result {
    try run(TransactionContext(store, writer, writer, rollbackActions, innermost), work)
  }

  private static func run<Result>(
    _ context: TransactionContext, _ work: () throws -> Result
  ) throws -> Result {
    defer { context.isActive = false }
    return try $innermost.withValue(context) { try work() }
  }
}
