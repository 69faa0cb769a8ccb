// SPDX-License-Identifier: MIT

extension Store {
  /// Runs a block of calls without `await` on the calling thread, for code in an `async` function that needs the
  /// synchronous form of calls.
  ///
  /// ```swift
  /// func restore(_ store: Store) async throws {
  ///   let films = store["films"]
  ///   let count = try store.blocking { try films.count() }            // no await
  ///   try store.blocking {
  ///     try store.write { try films.insert(draft) }                   // draft need not be Sendable
  ///   }
  /// }
  /// ```
  ///
  /// In an `async` function Swift chooses the form with `await` of each call. Inside the block it chooses the
  /// synchronous form, which runs at once, before anything else of the current task or actor, and may use values
  /// that are not `Sendable`.
  ///
  /// The calling thread waits until the block returns: on the main actor the app does not respond meanwhile, and in
  /// other async code one of the few threads of Swift's concurrency does nothing else. Keep it to calls that take
  /// milliseconds, and use `await` for imports, backups, servers and waiting for other processes. Cancelling the
  /// task does not stop the block.
  ///
  /// It is no transaction: use ``read(_:)-(()->Result)`` and ``write(_:)-(()->_)`` for one.
  @discardableResult
  public func blocking<Result>(_ work: () throws -> Result) rethrows -> Result { try work() }
}
