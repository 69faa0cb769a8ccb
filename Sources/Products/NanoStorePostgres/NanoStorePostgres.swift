// SPDX-License-Identifier: MIT

import Dispatch
@_exported import NanoBags
@_exported import NanoCopying
@_exported import NanoDocument
@_exported import NanoEngine
@_exported import NanoPostgres
@_exported import NanoQuery
@_exported import NanoStoreCore

extension Store {
  /// Opens a store on a PostgreSQL server, creating its tables if needed.
  ///
  /// docs/OUTGROWING-ONE-MACHINE.md describes the differences to a store in a file.
  ///
  /// ```swift
  /// let store = try await Store.postgres("postgresql://books@db.example/library")
  /// try await store["people"].save(["name": "Ada"], key: "ada")
  /// ```
  ///
  /// - Parameters:
  ///   - url: A URL or connection string as accepted by libpq. With several hosts, as in
  ///     `postgresql://a,b/library?target_session_attrs=read-write`, the host that accepts writes
  ///     is used, also after a failover.
  ///   - configuration: The settings of the store. The defaults suit most programs.
  ///   - engine: The settings of the engine. The defaults suit most programs.
  /// - Throws: ``StoreError/Code/cannotOpen``, ``StoreError/Code/newerFormat``,
  ///   ``StoreError/Code/unsupported`` for a server older than version 14,
  ///   ``StoreError/Code/notPermitted`` if the role may not create the tables. Nothing was created.
  public static func postgres(
    _ url: String, configuration: Configuration = Configuration(),
    engine: PostgresConfiguration = PostgresConfiguration()
  ) throws -> Store {
    try postgres(url, configuration: configuration, engine: engine) { $0 }
  }

  /// Opens a store on an engine that the closure creates from the PostgreSQL engine, for example
  /// one that transforms documents. The closure is also called by each `reopen()`.
  ///
  /// - Throws: The errors of ``postgres(_:configuration:engine:)-(String,_,_)``, and an error thrown by the
  ///   closure.
  package static func postgres(
    _ url: String, configuration: Configuration = Configuration(),
    engine: PostgresConfiguration = PostgresConfiguration(),
    wrapping wrap: @escaping @Sendable (any Engine) throws -> any Engine
  ) throws -> Store {
    try Store(configuration, references: BagReferences()) { _ in
      try wrap(PostgresEngine(url, engine))
    }
  }
  /// The asynchronous form of `postgres(_:configuration:engine:)`, which does not block the calling
  /// thread.
  public static func postgres(
    _ url: String, configuration: Configuration = Configuration(),
    engine: PostgresConfiguration = PostgresConfiguration()
  ) async throws -> Store {
    // Connecting blocks, which threads of Swift concurrency must not do.
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "NanoStore.opening").async {
        continuation.resume(
          with: Result { () throws -> Store in
            try postgres(url, configuration: configuration, engine: engine)
          })
      }
    }
  }
}
