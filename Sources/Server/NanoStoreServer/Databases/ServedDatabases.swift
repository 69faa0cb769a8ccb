// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore
import NanoSync
import Synchronization

/// The databases of a server: the collections of its stores that are served.
final class ServedDatabases: Sendable {
  private let stores: [Store]
  private let selection: SyncDatabases
  private let limit: WorkLimit
  private let open = Mutex(Open())

  private struct Open {
    var databases: [ExactName: ServedDatabase] = [:]
    /// Whether feeds end at once.
    var isEnded = false
  }

  /// The number of blocking calls at a time. Arbitrary: the engines have about as many connections.
  private static let maximumCalls = 16

  init(_ stores: [Store], _ selection: SyncDatabases) {
    self.stores = stores
    self.selection = selection
    limit = WorkLimit(Self.maximumCalls)
  }

  static func isValid(_ name: String) -> Bool {
    guard let first = name.utf8.first, (0x61...0x7A).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "_$()+/-".utf8.contains(byte)
    }
  }

  static func requireValid(_ name: String) throws(ProtocolError) {
    guard isValid(name) else {
      throw ProtocolError(
        400, "illegal_database_name",
        "Name: '\(name)'. Only lowercase characters (a-z), digits (0-9), and any of the characters "
          + "_, $, (, ), +, -, and / are allowed. Must begin with a letter.")
    }
  }

  /// Returns a database, which is set up for sync with its first use.
  ///
  /// - Throws: ``ProtocolError`` with status 404 if it does not exist or is not served.
  func find(_ name: String) async throws -> ServedDatabase {
    guard isServed(name) else { throw ProtocolError.noDatabase }
    if let served = open.withLock({ $0.databases[ExactName(name)] }),
      try await served.run({ try $0.isEnabled() })
    {
      return served
    }
    for store in stores {
      guard try await exists(name, in: store) else { continue }
      do {
        return try await enabled(name, in: store, creates: false)
      } catch let error as StoreError where error.code == .notFound {
        // It was deleted in the meantime.
        continue
      }
    }
    forget(name)?.notifier.end()
    throw ProtocolError.noDatabase
  }

  private func forget(_ name: String) -> ServedDatabase? {
    open.withLock { $0.databases.removeValue(forKey: ExactName(name)) }
  }

  /// Whether a collection of this name is a database.
  private func isServed(_ name: String) -> Bool {
    Self.isValid(name) && selection.contains(name) && SyncDatabase.isPossible(name: name)
  }

  private func exists(_ name: String, in store: Store) async throws -> Bool {
    // Names of databases have no capital letters, so that a collection `Notes` is none called `notes`.
    try await names(in: store).contains { $0.hasSameBytes(as: name) }
  }

  private func names(in store: Store) async throws -> [String] {
    try await limit.run {
      try await store.onMaintenanceThread {
        try store.collections().filter { !$0.isInternal }.map(\.name)
      }
    }
  }

  /// Returns a database after setting it up for sync.
  ///
  /// - Parameter creates: Whether the collection may be created. A request that waits for the deletion of its database
  ///   must not bring it back: it would be open to everyone, since `_security` was deleted with it.
  private func enabled(
    _ name: String, in store: Store, creates: Bool
  ) async throws -> ServedDatabase {
    let database = try SyncDatabase(store[name])
    try await store.onWriterAlone { try database.enable(creates: creates) }
    return open.withLock { open in
      if let other = open.databases[ExactName(name)], other.store === store { return other }
      let served = ServedDatabase(database, limit)
      if open.isEnded { served.notifier.end() }
      open.databases[ExactName(name)] = served
      return served
    }
  }

  /// Returns the names of all databases, sorted.
  func names() async throws -> [String] {
    var names: Set<ExactName> = []
    for store in stores {
      for name in try await self.names(in: store) where isServed(name) {
        names.insert(ExactName(name))
      }
    }
    return names.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Creates a database in the first store.
  ///
  /// - Throws: ``ProtocolError`` with status 412 if it exists.
  func create(_ name: String) async throws {
    try Self.requireValid(name)
    guard selection.contains(name), let store = stores.first else {
      throw ProtocolError(403, "forbidden", "The server does not serve a database of this name.")
    }
    guard SyncDatabase.isPossible(name: name) else {
      throw ProtocolError(
        400, "illegal_database_name",
        "The name is one of those that stores use for synchronization.")
    }
    for store in stores {
      guard try await !names(in: store).contains(where: { $0.foldingASCII.hasSameBytes(as: name) })
      else {
        throw ProtocolError(
          412, "file_exists", "The database could not be created, the file already exists.")
      }
    }
    do {
      _ = try await enabled(name, in: store, creates: true)
    } catch let error as StoreError where error.code == .invalidName {
      throw ProtocolError(400, "illegal_database_name", error.message)
    }
  }

  /// Whether a user is a member of a database. A collection that is not set up for sync has no members, so that all are.
  func hasMember(_ user: SyncUser, _ name: String) async throws -> Bool {
    for store in stores where try await exists(name, in: store) {
      let security = try await limit.run {
        try await store.onMaintenanceThread {
          let database = try SyncDatabase(store[name])
          return try database.isEnabled() ? database.security() : [:]
        }
      }
      return SecurityObject(security).admits(user)
    }
    return false
  }

  func delete(_ name: String) async throws {
    let served = try await find(name)
    _ = forget(name)
    // Before, so that a feed that looks for changes in the meantime ends instead of failing.
    served.notifier.end()
    let existed = try await served.write { try $0.delete() }
    guard existed else { throw ProtocolError.noDatabase }
  }

  /// The number of open feeds.
  var openFeeds: Int {
    open.withLock { $0.databases.values.reduce(0) { $0 + $1.notifier.members } }
  }

  /// Ends all feeds, also those that begin before the next ``begin()``.
  func end() {
    let databases = open.withLock { open in
      open.isEnded = true
      return Array(open.databases.values)
    }
    for served in databases { served.notifier.end() }
  }

  /// Allows feeds again.
  func begin() {
    open.withLock { open in
      open.isEnded = false
      // Notifiers that have ended stay so.
      open.databases = open.databases.filter { !$0.value.notifier.isEnded }
    }
  }
}
