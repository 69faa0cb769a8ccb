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

// @unchecked: touched only on `thread`; the task-local value may be inherited by other tasks, which
// `current(of:)` keeps away from it.
/// The transaction in whose block the running code stands, so that every call in the block takes
/// part in it.
final class TransactionContext: @unchecked Sendable {
  @TaskLocal private static var innermost: TransactionContext?

  let reader: any EngineReader
  let writer: (any EngineWriter)?
  private let store: ObjectIdentifier
  private let outer: TransactionContext?
  private let thread = pthread_self()
  private var isActive = true
  /// What is to be done if the writes are undone.
  let compensations: RollbackActions?
  /// Whether the database holds bags; nil before somebody asked.
  var hasBags: Bool?
  /// Documents that are being written, some of which the engine may not have yet.
  var batch: DocumentBatch?

  private init(
    _ store: Store, _ reader: any EngineReader, _ writer: (any EngineWriter)?,
    _ compensations: RollbackActions?, _ outer: TransactionContext?
  ) {
    self.store = ObjectIdentifier(store)
    self.reader = reader
    self.outer = outer
    self.writer = writer
    self.compensations = compensations
  }

  /// The transaction of this store that the running code is inside of; nil if it is in none.
  @inline(__always)
  static func current(of store: Store) -> TransactionContext? {
    var context = innermost
    while let candidate = context {
      // A task that was started inside the block runs on other threads, beside the transaction or
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

  /// Runs a block that may only read, also where what is collected was written for it and will be
  /// undone.
  static func reading<Result>(
    _ store: Store, _ reader: any EngineReader, _ work: () throws -> Result
  ) throws -> Result {
    try run(TransactionContext(store, reader, nil, nil, innermost), work)
  }

  static func writing<Result>(
    _ store: Store, _ writer: any EngineWriter, _ compensations: RollbackActions,
    _ work: () throws -> Result
  ) throws -> Result {
    try run(TransactionContext(store, writer, writer, compensations, innermost), work)
  }

  private static func run<Result>(
    _ context: TransactionContext, _ work: () throws -> Result
  ) throws -> Result {
    defer { context.isActive = false }
    return try $innermost.withValue(context) { try work() }
  }
}
