// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore
import NanoStorePostgres

/// The same documents in SQLite in this process and on a server.
struct Contest {
  let sqlite: Side
  let postgres: Side
  let machine: Machine

  /// - Parameter url: The URL of a database in which schemas may be created and removed.
  init(_ members: MemberSet, url: String, folder: Folder) throws {
    var file = Store.Configuration()
    var engine = SQLiteConfiguration()
    file.indexTuning = .off
    let store = try Store(.file(folder.file("store.db")), configuration: file, engine: engine)
    engine.durability = .full
    let durable = try Store(.file(folder.file("durable.db")), configuration: file, engine: engine)
    sqlite = Side(members, store: store, durable: durable)

    let server = try Store.postgres(url)
    postgres = Side(members, store: server, durable: server)
    machine = Machine(
      sqlite: try Self.version(store), postgres: try Self.version(server))
  }

  func close() throws {
    for store in [sqlite.store, sqlite.durable, postgres.store] { try store.close() }
  }

  /// Returns the version without the name of the engine.
  private static func version(_ store: Store) throws -> String {
    let words = try store.statistics().engine.split(separator: " ")
    return words.dropFirst().first.map(String.init) ?? ""
  }
}
