// SPDX-License-Identifier: MIT

import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import Testing

@Suite("PostgreSQL replicas and layouts", .postgres)
struct ReplicaTests {
  @Test("Stale reads use the replica; other reads and writes use the primary")
  func staleReads() throws {
    let server = try PostgresServer(durable: false)
    defer { server.remove() }
    let standby = try server.standby()
    defer { standby.remove() }
    var configuration = TestDatabase.configuration()
    configuration.replicas = standby.url()
    // A replica receives only what the primary has flushed to disk.
    configuration.durability = .full
    let store = try Store.postgres(server.url(), engine: configuration)
    defer { try? store.close() }
    let people = store["people"]
    try people.insert((0..<50).map { ["n": .int($0)] })
    try server.waitUntilFollowed(by: standby)

    func isReplica() throws -> DocumentValue? {
      try store.sql("SELECT pg_is_in_recovery() AS replica").first?["replica"]
    }
    let (count, wasReplica) = try store.read(.stale) { (try people.count(), try isReplica()) }
    #expect(count == 50)
    #expect(wasReplica == true)
    #expect(try isReplica() == false)
    let inBlock = try store.read { try isReplica() }
    #expect(inBlock == false)

    // Data and metadata of a stale read both come from the replica.
    try people.createIndex("n")
    try people.insert(["n": ["x"]])
    try server.waitUntilFollowed(by: standby)
    let found = try store.read(.stale) { try people.find("[n] = 'x'").count() }
    #expect(found == 1)
    #expect(throws: StoreError.self) {
      try store.read(.stale) { try people.insert(["n": 1]) }
    }
  }

  @Test("After the primary fails and its replica is promoted, the store continues on the replica")
  func failover() throws {
    let server = try PostgresServer(durable: false)
    defer { server.remove() }
    let standby = try server.standby()
    defer { standby.remove() }
    // Both servers; the connection uses the one that accepts writes.
    let url =
      "postgresql://postgres@127.0.0.1:\(server.port),127.0.0.1:\(standby.port)/plain"
      + "?target_session_attrs=read-write"
    var configuration = TestDatabase.configuration()
    configuration.durability = .full
    let store = try Store.postgres(url, engine: configuration)
    defer { try? store.close() }
    try store["people"].save(["name": "Ada"], key: "ada")
    try server.waitUntilFollowed(by: standby)

    try server.kill()
    try standby.promote()
    try store["people"].save(["name": "Grace"], key: "grace")

    #expect(try store["people"].find().sorted(by: "name").keys() == ["ada", "grace"])
  }

  @Test("A distributed layout requires a server that supports it")
  func distributed() throws {
    var configuration = TestDatabase.configuration()
    configuration.layout = .distributed(shards: 4)
    let url = try TestDatabase.url()
    let error = #expect(throws: StoreError.self) {
      try Store.postgres(url, engine: configuration)
    }
    #expect(error?.code == .unsupported)
    #expect(error?[.capability] == "citus")
  }

  @Test("Documents are partitioned by key")
  func partitions() throws {
    var configuration = TestDatabase.configuration()
    configuration.layout = .partitions(4)
    let store = try TestDatabase.store(configuration)
    defer { try? store.close() }
    try store["people"].insert((0..<200).map { ["n": .int($0)] })

    let parts = try (0..<4).map { part in
      try store.sql("SELECT count(*) AS n FROM people_p\(part)").first?["n"]?.int ?? 0
    }
    #expect(parts.reduce(0, +) == 200)
    #expect(parts.allSatisfy { $0 > 0 })
    #expect(try store["people"].find("[n] < 10").sorted(by: "-n").limit(2).fetch().count == 2)
    #expect(throws: StoreError.self) { try store["people"].createIndex("n", unique: true) }
  }
}
