// SPDX-License-Identifier: MIT

@_exported import NanoDocument
@_exported import NanoEngine
public import NanoPostgres
@_exported import NanoQuery
@_exported import NanoStoreCore

extension Store {
  /// How a store on PostgreSQL is opened.
  public typealias PostgresOptions = PostgresConfiguration
}
