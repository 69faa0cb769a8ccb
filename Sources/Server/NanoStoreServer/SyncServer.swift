// SPDX-License-Identifier: MIT

public import NanoStoreCore

/// Serves the collections of stores over the replication protocol of CouchDB.
///
/// ```swift
/// let server = SyncServer(store)
/// try await server.run(stopsOnSignals: true)
/// ```
///
/// Stores of other devices, CouchDB and PouchDB synchronize with it; docs/SYNC-SERVER.md lists the endpoints. A collection
/// is set up for sync when a client uses it for the first time.
public struct SyncServer: Sendable {
  package let handler: SyncHandler

  /// Creates a server of one store.
  public init(_ store: Store, configuration: SyncServerConfiguration = SyncServerConfiguration()) {
    self.init([store], configuration: configuration)
  }

  /// Creates a server of several stores. Of collections with the same name, that of the first store is served; new
  /// databases are created in the first store.
  public init(
    _ stores: [Store], configuration: SyncServerConfiguration = SyncServerConfiguration()
  ) {
    handler = SyncHandler(stores, configuration)
  }

  /// The number of feeds that wait for changes.
  public var openFeeds: Int { handler.databases.openFeeds }

  /// Ends all feeds, also those that begin later, until ``run(stopsOnSignals:whenReady:)`` is called. A server that runs
  /// does this by itself when it stops.
  public func shutDown() { handler.shutDown() }
}
