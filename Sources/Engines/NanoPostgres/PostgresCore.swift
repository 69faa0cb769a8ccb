// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// The state that readers and writers of one engine share.
final class PostgresCore: Sendable {
  let configuration: PostgresConfiguration
  let names: PostgresNames
  let loader: CollectionLoader
  let cache = PostgresCollectionCache()
  let tokens = TokenCleanup()
  let phraseCounts = PhraseCounts()
  let locks: PostgresLocks
  private let writerNumber = Atomic(Int64.random(in: .min ... .max))
  /// Distinguishes the commits of this engine from those of others.
  var writer: Int64 { writerNumber.load(ordering: .relaxed) }
  /// Makes the poller report commits that have begun as those of others.
  func renewWriter() {
    writerNumber.store(.random(in: .min ... .max), ordering: .relaxed)
  }
  let pool: PostgresPool
  /// Whether the tables of attachments are known to exist; they are never dropped.
  let knowsBlobTables = Atomic(false)

  init(_ conninfo: String, _ configuration: PostgresConfiguration) {
    self.configuration = configuration
    names = PostgresNames(schema: configuration.schema)
    locks = PostgresLocks(schema: configuration.schema)
    loader = CollectionLoader(names: names)
    pool = PostgresPool(conninfo, configuration)
  }

  private let foundExpirations = Atomic(false)
  /// Whether documents of any collection may expire.
  var hasExpirations: Bool { foundExpirations.load(ordering: .relaxed) }
  func noteExpirations() { foundExpirations.store(true, ordering: .relaxed) }

  /// The time at which expired documents of a collection are left out; `nil` if they need not be.
  func time(_ collection: PostgresCollection) -> Int64? {
    collection.hasExpirations ? configuration.clock.now() : nil
  }

  func get(
    _ identity: Identity, _ collection: PostgresCollection, at time: Int64?
  ) -> PostgresStatement {
    let columns = PostgresQueryCompiler.columns
    let catalog = names.qualified("nano_collections")
    let head =
      PostgresSQL("SELECT \(columns), (SELECT incarnation FROM \(catalog) WHERE folded = ")
      + .value(.exact(collection.folded)) + ") FROM \(collection.table) WHERE"
    var sql = head
    switch identity {
    case .rowID(let id): sql += " id = " + .value(.int(id))
    case .key(let key): sql += " key = " + .value(.text(key.description))
    }
    if let visible = collection.isVisible(at: time) { sql += " AND " + visible }
    return sql.statement
  }

  func get(
    _ keys: [DocumentKey], _ collection: PostgresCollection, at time: Int64?
  ) -> PostgresStatement {
    var sql = PostgresSQL("SELECT \(PostgresQueryCompiler.columns), (SELECT incarnation FROM ")
    sql += PostgresSQL("\(names.qualified("nano_collections")) WHERE folded = ")
    sql += .value(.exact(collection.folded)) + ") FROM \(collection.table) WHERE "
    sql += .hasKey(in: keys)
    if let visible = collection.isVisible(at: time) { sql += " AND " + visible }
    return sql.statement
  }

  /// Runs a closure and converts server failures to `StoreError`.
  func convertingErrors<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let failure as PostgresFailure {
      throw failure.error()
    }
  }
}
