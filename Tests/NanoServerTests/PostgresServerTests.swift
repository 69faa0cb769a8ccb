// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
import Testing

@Suite("PostgreSQL test server", .postgres, .timeLimit(.minutes(10)))
struct PostgresServerTests {
  @Test("Both databases accept queries and have their collations") func databases() throws {
    let server = try #require(PostgresServer.shared)
    let order = "SELECT string_agg(x, '' ORDER BY x) FROM (VALUES ('b'), ('a'), ('B')) AS t(x)"
    #expect(try server.psql(order) == "Bab")
    #expect(try server.psql(order, database: .icu) == "abB")
    #expect(try server.psql("SHOW server_encoding; SHOW max_connections") == "UTF8\n600")
    #expect(try server.psql("SELECT 1", url: server.url(socket: .icu)) == "1")
  }

  @Test("A failed statement is an error") func failedStatement() throws {
    let server = try #require(PostgresServer.shared)
    #expect { try server.psql("SELECT 1 / 0") } throws: { "\($0)".contains("division by zero") }
  }

  @Test("Committed rows survive a kill") func kill() throws {
    let server = try PostgresServer(durable: true)
    #expect(try server.psql("SHOW fsync") == "on")
    try server.psql("CREATE TABLE kept(x int); INSERT INTO kept VALUES (1)")
    try server.kill()
    #expect(throws: (any Error).self) { try server.psql("SELECT 1") }
    try server.start()
    #expect(try server.psql("SELECT x FROM kept") == "1")
    try server.restart()
    #expect(try server.psql("SELECT x FROM kept") == "1")
  }

  @Test("A standby follows its primary and can be promoted") func standby() throws {
    let server = try PostgresServer()
    let standby = try server.standby()
    try server.psql("CREATE TABLE followed(x int); INSERT INTO followed VALUES (1)")
    try server.waitUntilFollowed(by: standby)
    #expect(try standby.psql("SELECT x FROM followed") == "1")
    #expect(throws: (any Error).self) { try standby.psql("INSERT INTO followed VALUES (2)") }
    try server.kill()
    try standby.promote()
    #expect(try standby.psql("INSERT INTO followed VALUES (2) RETURNING x") == "2")
  }

  @Test("Removing a server deletes its folder") func removal() throws {
    let server = try PostgresServer()
    #expect(FileManager.default.fileExists(atPath: server.folder))
    server.remove()
    #expect(!FileManager.default.fileExists(atPath: server.folder))
    #expect(throws: (any Error).self) { try server.psql("SELECT 1") }
  }

  @Test(
    "pgbouncer forwards to both databases",
    .enabled(if: Pgbouncer.isInstalled, "pgbouncer is not installed"))
  func pgbouncer() throws {
    let server = try #require(PostgresServer.shared)
    let pooler = try Pgbouncer(before: server)
    for database in PostgresServer.Database.allCases {
      let name = try server.psql("SELECT current_database()", url: pooler.url(database))
      #expect(name == database.rawValue)
    }
    pooler.stop()
    #expect(throws: (any Error).self) { try server.psql("SELECT 1", url: pooler.url()) }
  }
}
