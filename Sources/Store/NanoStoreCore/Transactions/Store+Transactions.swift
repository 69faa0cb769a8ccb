// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine

extension Store {
  /// Runs a block in which all calls on this store see the same snapshot.
  ///
  /// ```swift
  /// let (people, count) = try store.read { (try people.fetch(), try people.count()) }
  /// ```
  ///
  /// Writing inside the block throws ``StoreError/Code/readOnly``. A block inside a `write` block is a part of that, and may
  /// write. A task started by the block is not part of it.
  public func read<Result>(_ work: () throws -> Result) throws -> Result {
    try read(.snapshot, work)
  }
  /// The asynchronous form of `read(_:)`, which does not block the calling thread.
  public func read<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await onReader { try self.read(work) }
  }

  /// Runs a block of reads with an explicit scope; see ``read(_:)-(()->Result)``.
  ///
  /// ```swift
  /// let count = try store.read(.stale) { try people.count() }     // from a replica, if there is one
  /// ```
  ///
  /// - Parameters:
  ///   - scope: With ``ReadScope/stale``, the block may see an older state, even one from before a
  ///     write of this process. Inside another block it sees the same state as that block.
  ///   - work: The block. It runs on the calling thread.
  public func read<Result>(_ scope: ReadScope, _ work: () throws -> Result) throws -> Result {
    if TransactionContext.current(of: self) != nil { return try work() }
    waitForQueued()
    // Calls in the block see one state in any case.
    return try readWithBufferedSaves(scope == .call ? .snapshot : scope) { reader in
      try TransactionContext.reading(self, reader, work)
    }
  }
  /// The asynchronous form of `read(_:_:)`, which does not block the calling thread.
  public func read<Result: Sendable>(
    _ scope: ReadScope, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await onReader { try self.read(scope, work) }
  }

  /// Runs a block in a transaction and returns its result. If the block throws, all its writes are
  /// rolled back.
  ///
  /// ```swift
  /// try store.write {
  ///   try accounts.update("a", set: ["balance": 90])
  ///   try accounts.update("b", set: ["balance": 110])
  /// }
  /// ```
  ///
  /// A nested block is a savepoint: if it throws and the outer block catches the error, only the
  /// inner writes are rolled back. Buffered documents are written first.
  ///
  /// On a server, transactions run concurrently, and two of them may wait for each other. The server
  /// then rolls one of them back, which throws an error that
  /// ``/NanoDocument/StoreError/isRetryable``. With `retries`, the block runs again:
  ///
  /// ```swift
  /// try store.write(retries: 3) {
  ///   guard var account = try accounts.get("a") else { return }
  ///   account["balance"] = (account["balance"]?.double ?? 0) + 10
  ///   try accounts.save(account)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - retries: How often the block may run again after an error that is retryable. Everything
  ///     else that the block does, it does again, so only its author knows whether it may. In a
  ///     nested block it has no effect: only the whole transaction can be repeated.
  ///   - isolation: What the block may see of concurrent transactions. In a nested block it has no
  ///     effect.
  ///   - work: The block. It runs on the calling thread.
  /// - Throws: An error thrown by the block, ``StoreError/Code/locked`` if another transaction is in
  ///   the way for longer than the busy timeout or conflicts with this one,
  ///   ``StoreError/Code/full`` and others. Nothing was written.
  @discardableResult
  public func write<Result>(
    retries: Int = 0, isolation: Isolation = .serializable, _ work: () throws -> Result
  ) throws -> Result {
    if isInTransaction { return try writeWithoutWaiting(work) }
    waitForQueued()
    return try retrying(atMost: retries) { try beginning(isolation, work) }
  }
  /// The asynchronous form of `write(retries:isolation:_:)`, which does not block the calling
  /// thread. The block runs on a writing thread of the store.
  @discardableResult
  public func write<Result: Sendable>(
    retries: Int = 0, isolation: Isolation = .serializable,
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await waitForQueued()
    return try await scheduler.write(on: self, repeatable: false) {
      try self.write(retries: retries, isolation: isolation, work)
    }
  }

  /// Runs a write like ``write(retries:isolation:_:)-(_,_,()->Result)``, for callers that have already waited for
  /// queued calls.
  func writeWithoutWaiting<Result>(_ work: () throws -> Result) throws -> Result {
    if let context = TransactionContext.current(of: self) {
      guard let writer = context.writer else { throw Self.insideRead }
      return try context.nested(writer, work)
    }
    return try beginning(.serializable, work)
  }

  /// Runs a block in a new transaction, after the buffered documents.
  private func beginning<Result>(
    _ isolation: Isolation, _ work: () throws -> Result
  ) throws -> Result {
    try flush()
    return try beginning(isolation) { (_: any EngineWriter) in try work() }
  }

  /// Announces the collections that the running transaction is about to use as a whole; see
  /// ``/NanoEngine/EngineDocumentWriter/prepare(_:)``.
  package func prepareToUse(_ collections: [String]) throws {
    try TransactionContext.current(of: self)?.writer?.prepare(
      collections.map { TransactionUse($0, keys: nil) })
  }

  /// Whether the current code runs inside a read or write block of this store.
  @usableFromInline package var isInTransaction: Bool {
    TransactionContext.current(of: self) != nil
  }

  static let insideRead = StoreError(
    .readOnly, "A read block cannot write", [.hint: "use a write block"])
}

extension Store {
  /// Runs a single read, in the running transaction or on its own.
  @inline(__always)
  package func reading<Result>(
    _ scope: ReadScope, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    if let context = TransactionContext.current(of: self) { return try work(context.reader) }
    waitForQueued()
    return try readWithBufferedSaves(scope, work)
  }

  /// Runs a single read that passes documents to the caller's code, which may use the store.
  func readingDocuments<Result>(_ work: (any EngineReader) throws -> Result) throws -> Result {
    if let context = TransactionContext.current(of: self) { return try work(context.reader) }
    waitForQueued()
    return try readWithBufferedSaves(.snapshot) { reader in
      try TransactionContext.reading(self, reader) { try work(reader) }
    }
  }

  /// Runs a single write, in the running transaction or in its own.
  ///
  /// - Parameters:
  ///   - atomic: Whether the call, which may write several documents, is rolled back as a whole
  ///     when it throws inside a transaction that continues. A transaction of its own is always
  ///     atomic.
  ///   - insertions: The expected number of documents, if the call is atomic and only inserts documents.
  ///   - callsBack: Whether user-supplied code runs in it, which may use the store.
  ///   - isIdempotent: Whether a write in a transaction of its own is also retried if it may have been applied.
  package func writing<Result>(
    atomic: Bool = false, insertions: (count: Int, collection: String)? = nil,
    callsBack: Bool = false, isIdempotent: Bool = false,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    if let context = TransactionContext.current(of: self) {
      guard let writer = context.writer else { throw Self.insideRead }
      guard atomic else { return try removingSweptReferences(writer, work) }
      return try context.nested(writer, insertions: insertions) {
        try removingSweptReferences(writer, work)
      }
    }
    waitForQueued()
    try flush()
    // Without user-supplied code, the write may be retried.
    guard callsBack else {
      var earliest: Int64?
      let result = try retrying(outcomeUnknown: isIdempotent) {
        try engine().write(Interruption.current) { try sweeping(&earliest, $0, work) }
      }
      if let earliest { sweeper.note(earliest) }
      return result
    }
    return try beginning(.serializable, work)
  }

  /// Runs a new transaction in which calls on the store take part.
  private func beginning<Result>(
    _ isolation: Isolation, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    let rollbackActions = RollbackActions { [self] in noteDroppedDefinition() }
    // This includes the commit, which may fail.
    var earliest: Int64?
    let result = try rollbackActions.runTransaction {
      try engine().write(isolation, Interruption.current) { writer in
        try sweeping(&earliest, writer) { writer in
          try TransactionContext.writing(self, writer, rollbackActions) { try work(writer) }
        }
      }
    }
    if let earliest { sweeper.note(earliest) }
    return result
  }

  /// Runs a read on the scheduler. Canceling the task interrupts its statement.
  package func onReader<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await waitForQueued()
    return try await scheduler.read(work)
  }

  /// Runs a block on a writing thread, which begins and ends its own transaction.
  package func onWriterAlone<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await waitForQueued()
    return try await scheduler.write(on: self, repeatable: false, work)
  }

  /// Runs a write on the scheduler, where it may share a transaction with other waiting writes.
  package func onWriter<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await waitForQueued()
    return try await scheduler.write(on: self, repeatable: true, work)
  }
}
