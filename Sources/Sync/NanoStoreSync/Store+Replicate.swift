// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoStoreCore
public import NanoSync

extension Store {
  /// Synchronizes collections with another store or a server.
  ///
  /// ```swift
  /// let sync = try store.replicate(["films", "people"], with: .url("https://sync.example.com"))
  /// for await status in sync.updates { print(status.phase) }
  /// ```
  ///
  /// The call returns at once. The first synchronization of a collection sets it up, like ``enableSync(for:)-([String])``,
  /// which reads all its documents; if that fails, the error is in the status. Several processes may synchronize one file.
  ///
  /// - Parameters:
  ///   - collections: The names of the collections. One that does not exist is created.
  ///   - target: The other side.
  ///   - direction: Whether changes are received, sent, or both.
  ///   - mode: Whether it goes on when everything is transferred.
  ///   - options: Filters, rules for conflicts, sizes.
  /// - Returns: A handle, which stops the synchronization when it is released.
  /// - Throws: ``/NanoDocument/StoreError/Code/invalidArgument`` for options and URLs,
  ///   ``/NanoDocument/StoreError/Code/invalidPath`` for a path in the push filter,
  ///   ``/NanoDocument/StoreError/Code/invalidName`` for an internal collection. Nothing was transferred. Errors of the
  ///   setup and of the transfer are in the status.
  public func replicate(
    _ collections: [String], with target: SyncTarget, direction: SyncDirection = .both,
    mode: SyncMode = .continuous, options: SyncOptions = SyncOptions()
  ) throws -> Sync {
    try options.validate()
    guard !collections.isEmpty else {
      throw StoreError(.invalidArgument, "A synchronization needs at least one collection")
    }
    let databases = try collections.map { try SyncDatabase(self[$0]) }
    let connections = try databases.map { database in
      SyncConnection(
        database: database,
        makePeer: try target.peerMaker(
          for: SyncOptions.value(for: database.name, in: options.databaseNames) ?? database.name,
          creates: options.createsDatabases && direction != .pull),
        options: try options.replication(database, direction, mode))
    }
    return Sync(connections, store: self)
  }

  /// Sets collections up for sync. Does nothing for those that are.
  ///
  /// Their changes are tracked from then on, whichever program makes them, also without a synchronization running.
  ///
  /// - Throws: ``/NanoDocument/StoreError/Code/valueNotStorable`` if a document has a field whose name begins with an
  ///   underscore, which the protocol reserves; ``/NanoDocument/StoreError/Code/invalidName`` for a name with a part that sync
  ///   uses; ``/NanoDocument/StoreError/Code/unsupported`` if the engine does not track changes. Collections before the
  ///   one that failed are set up.
  public func enableSync(for collections: [String]) throws {
    for name in collections { try SyncDatabase(self[name]).enable() }
  }
  /// The asynchronous form of `enableSync(for:)`, which does not block the calling thread.
  public func enableSync(for collections: [String]) async throws {
    try await onWriterAlone { try self.enableSync(for: collections) }
  }

  /// Returns the conflicts that are not resolved, of all synchronized collections or of one.
  ///
  /// - Throws: ``/NanoDocument/StoreError/Code/invalidArgument`` if the collection is not set up for sync.
  public func conflicts(in collection: String? = nil) throws -> [SyncConflict] {
    let names = try collection.map { [$0] } ?? SyncDatabase.enabled(in: self)
    return try names.flatMap { name in
      let database = try SyncDatabase(self[name])
      guard try database.isEnabled() else { throw SyncDatabase.notEnabled(name) }
      return try database.conflictedIDs().compactMap { try database.conflict($0) }
    }
  }
  /// The asynchronous form of `conflicts(in:)`, which does not block the calling thread.
  public func conflicts(in collection: String? = nil) async throws -> [SyncConflict] {
    try await onMaintenanceThread { try self.conflicts(in: collection) }
  }

  /// Resolves a conflict. The resolution is synchronized like any change.
  ///
  /// ```swift
  /// for conflict in try await store.conflicts() {
  ///   try await store.resolve(conflict, with: .object(conflict.mine))
  /// }
  /// ```
  ///
  /// - Returns: Whether the conflict was resolved; false if the document has changed since it was read, or the merge needs
  ///   a version that is not known here.
  @discardableResult
  public func resolve(
    _ conflict: SyncConflict, with resolution: ConflictResolution,
    rules: ConflictRules = ConflictRules()
  ) throws -> Bool {
    try SyncDatabase(self[conflict.collection]).resolve(conflict, by: resolution, rules)
  }
  /// The asynchronous form of `resolve(_:with:rules:)`, which does not block the calling thread.
  @discardableResult
  public func resolve(
    _ conflict: SyncConflict, with resolution: ConflictResolution,
    rules: ConflictRules = ConflictRules()
  ) async throws -> Bool {
    try await onWriterAlone { try self.resolve(conflict, with: resolution, rules: rules) }
  }
}
