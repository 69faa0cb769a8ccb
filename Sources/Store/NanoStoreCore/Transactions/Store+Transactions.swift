// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine

extension Store {
  /// Runs a block in which every call on this store sees the same snapshot.
  ///
  /// ```swift
  /// let (people, count) = try store.read { (try people.fetch(), try people.count()) }
  /// ```
  ///
  /// Writing in it throws ``StoreError/Code/readOnly``. A task that the block starts is not part of
  /// it.
  public func read<Result>(_ work: () throws -> Result) throws -> Result {
    try read(.snapshot, work)
  }
  public func read<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await onReader { try self.read(work) }
  }

  /// As ``read(_:)-(()->Result)``, saying what the block may see.
  ///
  /// ```swift
  /// let count = try store.read(.stale) { try people.count() }     // of a replica, if there is one
  /// ```
  ///
  /// - Parameter scope: With ``ReadScope/stale`` the block may see a state of some time ago, also one from
  ///   before a write of this program. Inside another block it sees what that one does.
  public func read<Result>(_ scope: ReadScope, _ work: () throws -> Result) throws -> Result {
    if TransactionContext.current(of: self) != nil { return try work() }
    waitForQueued()
    // Calls of the block see one state in any case.
    return try withBuffered(scope == .call ? .snapshot : scope) { reader in
      try TransactionContext.reading(self, reader, work)
    }
  }
  public func read<Result: Sendable>(
    _ scope: ReadScope, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await onReader { try self.read(scope, work) }
  }

  /// Runs a block whose writes happen together, or not at all if it throws, and returns what the block returns.
  ///
  /// ```swift
  /// try store.write {
  ///   try accounts.update("a", set: ["balance": 90])
  ///   try accounts.update("b", set: ["balance": 110])
  /// }
  /// ```
  ///
  /// A block inside another one is a savepoint: if it throws and the outer block catches the error,
  /// only the inner writes are undone. What was buffered is written first.
  ///
  /// - Throws: What the block throws, ``StoreError/Code/locked`` if another process writes for longer
  ///   than the busy timeout, ``StoreError/Code/full`` and others. Nothing was written.
  @discardableResult
  public func write<Result>(_ work: () throws -> Result) throws -> Result {
    waitForQueued()
    return try writeAtOnce(work)
  }
  @discardableResult
  public func write<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await waitForQueued()
    return try await scheduler.write(on: self, repeatable: false) { try self.write(work) }
  }

  /// As ``write(_:)-(()->_)``, for calls that have waited for what is queued.
  func writeAtOnce<Result>(_ work: () throws -> Result) throws -> Result {
    if let context = TransactionContext.current(of: self) {
      guard let writer = context.writer else { throw Self.insideRead }
      return try context.nested(writer, work)
    }
    try flush()
    return try beginning { _ in try work() }
  }

  /// Whether the running code stands in a read or write block of this store.
  @usableFromInline package var isInTransaction: Bool {
    TransactionContext.current(of: self) != nil
  }

  static let insideRead = StoreError(
    .readOnly, "A read block cannot write", [.hint: "use a write block"])
}

extension Store {
  /// One call that reads: in the running transaction, or on its own.
  @inline(__always)
  func reading<Result>(
    _ scope: ReadScope, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    if let context = TransactionContext.current(of: self) { return try work(context.reader) }
    waitForQueued()
    return try withBuffered(scope, work)
  }

  /// One call that reads and shows documents to the caller's code, which may use the store.
  func showing<Result>(_ work: (any EngineReader) throws -> Result) throws -> Result {
    if let context = TransactionContext.current(of: self) { return try work(context.reader) }
    waitForQueued()
    return try withBuffered(.snapshot) { reader in
      try TransactionContext.reading(self, reader) { try work(reader) }
    }
  }

  /// One call that writes: in the running transaction, or in one of its own. It happens wholly or
  /// not at all, also where it writes several documents inside a transaction that goes on.
  ///
  /// - Parameter callsBack: Whether code of the caller runs in it, which may use the store.
  func writing<Result>(
    atomic: Bool = false, callsBack: Bool = false, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    if let context = TransactionContext.current(of: self) {
      guard let writer = context.writer else { throw Self.insideRead }
      return atomic ? try context.nested(writer) { try work(writer) } : try work(writer)
    }
    waitForQueued()
    try flush()
    // What calls nobody back may be run again.
    guard callsBack else {
      return try retrying { try engine().write(Interruption.current, work) }
    }
    return try beginning(work)
  }

  /// A transaction of its own, in which calls on the store take part.
  private func beginning<Result>(
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    let compensations = RollbackActions { [self] in noteDroppedDefinition() }
    // Around the commit too, which may fail.
    return try compensations.settling {
      try engine().write(Interruption.current) { writer in
        try TransactionContext.writing(self, writer, compensations) { try work(writer) }
      }
    }
  }

  /// Runs a reading block on the scheduler; cancelling the task stops its statement.
  func onReader<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await waitForQueued()
    return try await scheduler.read(work)
  }

  /// Runs a writing block on the scheduler, together with others that wait.
  func onWriter<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await waitForQueued()
    return try await scheduler.write(on: self, repeatable: true, work)
  }
}
