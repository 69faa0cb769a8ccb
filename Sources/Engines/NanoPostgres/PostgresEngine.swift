// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
import NanoQuery
import NanoSQL

/// An engine that stores documents in tables of a PostgreSQL server, version 14 or later.
///
/// Write transactions run concurrently. One locks the documents that it reads or writes until it ends, and the whole
/// collection when it runs a query, so transactions are serializable. Readers wait for other transactions only while
/// these change some definitions, which docs/POSTGRES.md lists.
package final class PostgresEngine: Engine {
  let core: PostgresCore
  /// Servers that may lag behind; `nil` if there are none.
  let replicas: PostgresCore?
  let commits = CommitBroadcast()
  let order = CommitOrder()
  let groups = WriteGroups()
  private let reads = ReadGroups()
  let poller: PostgresCommitPoller
  /// The attachments that are being read.
  let keptBlobs = KeptBlobs()

  /// Connects to a server, and creates the store's tables if they do not exist.
  ///
  /// - Parameter conninfo: A URL (`postgresql://user@host/database`) or a connection string in libpq's syntax.
  ///   Several hosts are a server and its standbys.
  /// - Throws: ``StoreError/Code/cannotOpen``, ``StoreError/Code/newerFormat``,
  ///   ``StoreError/Code/unsupported`` for a server that is too old, ``StoreError/Code/notPermitted`` if the
  ///   role may not create the tables.
  package init(_ conninfo: String, _ configuration: PostgresConfiguration = .init()) throws {
    try configuration.validate()
    core = PostgresCore(conninfo, configuration)
    replicas = configuration.replicas.map { PostgresCore($0, configuration) }
    poller = PostgresCommitPoller(core)
    do {
      try core.convertingErrors {
        try prepare()
        if !configuration.isReadOnly { try FeedRenewal(core: core).run() }
      }
    } catch {
      core.pool.close()
      throw error
    }
  }

  deinit { try? close() }

  package var capabilities: Capabilities {
    var all: Capabilities = [
      .sql, .uniqueIndexes, .elementIndexes, .concurrentReads, .durable, .everythingIndex, .changes,
      .fullTextIndexes, .singleWrites, .changeTracking, .blobs, .expiration,
    ]
    if core.configuration.layout != .plain { all.remove(.uniqueIndexes) }
    if core.configuration.isReadOnly { all.remove(.singleWrites) }
    return all
  }

  private func prepare() throws {
    let schema = PostgresSchema(names: core.names)
    try core.pool.withConnection { connection in
      try requireLayout(connection)
      let format = PostgresStatement.once(
        "SELECT version FROM \(core.names.qualified("nano_format"))")
      do {
        try check(try connection.run(format))
      } catch let failure as PostgresFailure where failure.isMissingObject {
        guard !core.configuration.isReadOnly else {
          throw StoreError(
            .cannotOpen, "The database contains no store",
            [.path: core.names.schema, .hint: "open it once with write access to create one"])
        }
        // If two programs create the tables at the same time, the second one waits.
        let lock = PostgresStatement.once(
          "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
          [.text("nanostore." + core.names.schema)])
        try connection.run([.once("BEGIN"), lock] + schema.definitions + [.once("COMMIT")])
        try check(try connection.run(format))
      }
      try upgrade(connection, format)
    }
  }

  /// Upgrades a store of an older format. If two programs do so at the same time, the second one waits.
  private func upgrade(_ connection: PostgresConnection, _ format: PostgresStatement) throws {
    let schema = PostgresSchema(names: core.names)
    let isOld = try connection.run(format).int(0, 0) < PostgresSchema.firstFormat
    guard try isOld || !connection.run(schema.hasDecimalFunctions).bool(0, 0) else { return }
    guard !core.configuration.isReadOnly else {
      throw StoreError(
        .readOnly, "The store has an older format, and upgrading it is a write",
        [.hint: "open it once with write access"])
    }
    do {
      try connection.run([
        .once("BEGIN"),
        .once("LOCK TABLE \(core.names.qualified("nano_format")) IN ACCESS EXCLUSIVE MODE"),
      ])
      let version = try connection.run(format).int(0, 0)
      try SchemaUpgrade(names: core.names).run(connection, from: version)
      try connection.run(schema.decimalFunctions)
      try connection.run(.once("COMMIT"))
    } catch {
      _ = try? connection.run(.once("ROLLBACK"))
      throw error
    }
  }

  /// - Throws: ``StoreError/Code/unsupported`` for a layout that the server does not support.
  private func requireLayout(_ connection: PostgresConnection) throws {
    guard case .distributed = core.configuration.layout else { return }
    let found = try connection.run(
      .once("SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'"))
    guard found.count == 0 else { return }
    throw StoreError(
      .unsupported, "The server does not support distributed tables",
      [.capability: "citus", .hint: "create the extension citus in the database"])
  }

  private func check(_ rows: PostgresResult) throws {
    guard rows.count > 0 else { return }
    if rows.int(0, 0) >= PostgresSchema.newestFormat { core.noteExpirations() }
    guard rows.int(0, 0) > PostgresSchema.newestFormat else { return }
    throw StoreError(
      .newerFormat, "The store was written by a newer version of NanoStore",
      [.expected: "\(PostgresSchema.newestFormat)", .actual: "\(rows.int(0, 0))"])
  }

  package func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    let core = scope == .stale ? replicas ?? core : core
    return try core.convertingErrors {
      try interruption?.check()
      let session = PostgresSession(core.pool, .snapshot, interruption)
      defer { session.end() }
      return try work(SQLPostgresReader(core, session))
    }
  }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard let cached = core.cache[collection.folded] else {
      return try read(.call, interruption) { try $0.get(identity, in: collection, show) }
    }
    guard case .key(let key) = identity else {
      return try get(identity, in: cached, interruption, show)
    }
    return try reads.get(key, cached, core) { rows, row in
      try rows.withDocument(row, cached.incarnation, show)
    } alone: {
      try get(identity, in: cached, interruption, show)
    }
  }

  private func get(
    _ identity: Identity, in cached: PostgresCollection, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    // A single statement has a consistent snapshot, so no transaction is needed.
    let session = PostgresSession(core.pool, .none, interruption)
    defer { session.end() }
    do {
      let rows = try session.run(core.get(identity, cached, at: core.time(cached)))
      guard rows.count > 0 else { return false }
      // Since the metadata was cached, documents of the collection may have got expirations.
      if rows.optionalInt(0, 8) == cached.incarnation {
        try rows.withDocument(0, cached.incarnation, show)
        return true
      }
      core.cache.invalidate(cached.folded)
    } catch  where session.failure?.isMissingObject == true {
      core.cache.invalidate(cached.folded)
    }
    return try read(.call, interruption) {
      try $0.get(identity, in: cached.description.name, show)
    }
  }

  package func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws {
    if let cached = core.cache[collection.folded] {
      let session = PostgresSession(core.pool, .none, interruption)
      defer { session.end() }
      do {
        let rows = try session.run(core.get(keys, cached, at: core.time(cached)))
        if rows.count == 0 || rows.optionalInt(0, 8) == cached.incarnation {
          for row in 0..<rows.count { try rows.withDocument(row, cached.incarnation, show) }
          return
        }
        core.cache.invalidate(cached.folded)
      } catch  where session.failure?.isMissingObject == true {
        core.cache.invalidate(cached.folded)
      }
    }
    try read(.call, interruption) { try $0.get(keys: keys, in: collection, show) }
  }

  package var clock: any StoreClock { core.configuration.clock }
  package var hasExpirations: Bool { core.hasExpirations }

  /// One connection is left for readers.
  package var concurrentWrites: Int { max(1, core.configuration.maximumConnections - 1) }
  package var maximumReads: Int { core.configuration.maximumConnections }
  package var isReadOnly: Bool { core.configuration.isReadOnly }

  package func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    defer { commits.deliver() }
    return try core.convertingErrors {
      try interruption?.check()
      let session = PostgresSession(
        core.pool, .writing, settings: core.writeSettings, interruption)
      let writer = PostgresWriter(core, session, isolation)
      defer { session.end() }
      let result = try work(writer)
      try commit(writer)
      return result
    }
  }

  private func commit(_ writer: PostgresWriter) throws {
    try reporting(ifUnknown: .everything) {
      try writer.commit()
      return (writer.stamp, writer.observedCommit)
    }
  }

  /// Runs a commit, and reports what it returns: its stamp and its changes.
  ///
  /// - Parameter possible: What to report of a commit whose outcome is unknown.
  func reporting(
    ifUnknown possible: Commit, _ commit: () throws -> (stamp: Int64, changes: Commit?)?
  ) throws {
    let number = commits.isObserved ? order.begin() : nil
    var done: (stamp: Int64, changes: Commit?)?
    defer {
      if let number {
        order.end(number, done?.changes, stamp: done?.stamp ?? 0, to: commits)
      } else if commits.isObserved, let changes = done?.changes {
        // An observer may have registered before the commit.
        commits.post(changes)
      }
    }
    do {
      done = try commit()
    } catch let error as StoreError where error.code == .outcomeUnknown {
      // If the server commits it later, the poller reports it.
      core.renewWriter()
      done = (stamp: 0, changes: possible)
      throw error
    }
  }

  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    try core.convertingErrors {
      try core.pool.requireOpen()
      let observation = commits.observe(handler)
      try poller.start(commits)
      return CommitObservation { [poller] in
        observation.cancel()
        poller.stop()
      }
    }
  }

  package func close() throws {
    poller.invalidate()
    keptBlobs.closeAll()
    core.pool.close()
    replicas?.pool.close()
  }
}

extension PostgresCore {
  /// Settings of one transaction. Session settings are not possible: a pooler shares sessions.
  func limits(lockTimeout: Int64 = .max) -> PostgresSQL {
    let timeout = max(1, min(configuration.busyTimeout.inMilliseconds, lockTimeout))
    let commit = configuration.durability == .full ? "on" : "off"
    return "set_config('lock_timeout', " + .value(.text("\(timeout)ms"))
      + ", true), set_config('synchronous_commit', " + .value(.text(commit))
      + ", true), set_config('jit', 'off', true)"
  }

  /// Settings of one transaction, and its ID.
  var writeSettings: [PostgresStatement] {
    [("SELECT " + limits() + ", pg_current_xact_id()::text").statement]
  }

  /// ``writeSettings`` with locks that are acquired before the transaction has an ID: transactions that have the same
  /// lock alone then have IDs in the order of their commits.
  ///
  /// - Parameter locks: Expressions, each after a comma.
  func writeSettings(_ locks: PostgresSQL) -> [PostgresStatement] {
    [("SELECT " + limits() + locks + ", pg_current_xact_id()::text").statement]
  }
}
