// SPDX-License-Identifier: MIT

extension Store {
  /// Runs synchronous calls on the calling thread from an `async` function.
  ///
  /// ```swift
  /// func restore(_ store: Store) async throws {
  ///   let films = store["films"]
  ///   let count = try store.blocking { try films.count() }            // without await
  ///   try store.blocking {
  ///     try store.write { try films.insert(draft) }                   // draft need not be Sendable
  ///   }
  /// }
  /// ```
  ///
  /// In an `async` function, Swift selects the asynchronous form of each call. Inside the block it
  /// selects the synchronous form, which runs immediately, without suspending the current task or
  /// actor, and may use values that are not `Sendable`.
  ///
  /// The calling thread is blocked until the block returns: on the main actor, the app does not
  /// respond meanwhile; in other async code, one of the few threads of Swift concurrency is
  /// unavailable. Restrict it to calls that take milliseconds, and use `await` for imports,
  /// backups, servers and waiting for other processes. Canceling the task does not stop the block.
  ///
  /// The block is not a transaction: use ``read(_:)-(()->Result)`` and ``write(retries:isolation:_:)-(_,_,()->_)`` for
  /// that.
  @discardableResult
  public func blocking<Result>(_ work: () throws -> Result) rethrows -> Result { try work() }
}
