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
  /// Distinguishes the commits of this engine from those of others.
  let writer = Int64.random(in: .min ... .max)
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

  func get(_ identity: Identity, _ collection: PostgresCollection) -> PostgresStatement {
    let columns = PostgresQueryCompiler.columns
    let catalog = names.qualified("nano_collections")
    let head = """
      SELECT \(columns), (SELECT incarnation FROM \(catalog) WHERE folded = $2) \
      FROM \(collection.table) WHERE
      """
    switch identity {
    case .rowID(let id):
      return PostgresStatement(head + " id = $1", [.int(id), .exact(collection.folded)])
    case .key(let key):
      return PostgresStatement(
        head + " key = $1", [.text(key.description), .exact(collection.folded)])
    }
  }

  func get(_ keys: [DocumentKey], _ collection: PostgresCollection) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT \(PostgresQueryCompiler.columns), (SELECT incarnation FROM \
      \(names.qualified("nano_collections")) WHERE folded = $2) FROM \(collection.table) \
      WHERE key = ANY($1) AND key IS NOT NULL
      """, [.texts(keys.map(\.description)), .exact(collection.folded)])
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
