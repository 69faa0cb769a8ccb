// SPDX-License-Identifier: MIT

import Dispatch
@_exported import NanoDocument
@_exported import NanoEngine
@_exported import NanoPostgres
@_exported import NanoQuery
@_exported import NanoStoreCore

extension Store {
  /// Opens a store on a PostgreSQL server, and makes its tables if they are not there.
  ///
  /// Everything else is as with a store in a file; docs/OUTGROWING-ONE-MACHINE.md says what differs.
  ///
  /// ```swift
  /// let store = try await Store.postgres("postgresql://books@db.example/library")
  /// try await store["people"].save(["name": "Ada"], key: "ada")
  /// ```
  ///
  /// - Parameters:
  ///   - url: A URL or a connection string as libpq takes them. With several hosts, as in
  ///     `postgresql://a,b/library?target_session_attrs=read-write`, the one that takes writes is used, also
  ///     after another one has taken over.
  ///   - configuration: The defaults suit most programs.
  /// - Throws: ``StoreError/Code/cannotOpen``, ``StoreError/Code/newerFormat``,
  ///   ``StoreError/Code/unsupported`` for a server that is older than 14,
  ///   ``StoreError/Code/notPermitted`` if the role may not make the tables. Nothing was made.
  public static func postgres(
    _ url: String, configuration: PostgresConfiguration = PostgresConfiguration()
  ) throws -> Store {
    try postgres(url, configuration: configuration) { $0 }
  }

  /// Opens a store on what a closure makes of the engine, now and whenever the store is reopened: one that
  /// changes documents on their way, for example.
  ///
  /// - Throws: As ``postgres(_:configuration:)-(String,_)``, and what the closure throws.
  package static func postgres(
    _ url: String, configuration: PostgresConfiguration = PostgresConfiguration(),
    wrapping wrap: @escaping @Sendable (any Engine) throws -> any Engine
  ) throws -> Store {
    try Store(
      indexTuning: .off, logger: configuration.logger,
      warnsAboutUnknownFields: configuration.warnsAboutUnknownFields
    ) { _ in
      try wrap(PostgresEngine(url, configuration))
    }
  }
  public static func postgres(
    _ url: String, configuration: PostgresConfiguration = PostgresConfiguration()
  ) async throws -> Store {
    // Connecting blocks, which Swift's own threads must not.
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "NanoStore.opening").async {
        continuation.resume(
          with: Result { () throws -> Store in try postgres(url, configuration: configuration) })
      }
    }
  }
}
