// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

@Suite("Indexes created concurrently", .postgres)
struct ConcurrentIndexTests {
  private let builder: Store
  private let writer: Store
  /// Sees the current activity of the server, which is constant in a transaction.
  private let observer: Store
  private let name: String
  private var items: DocumentCollection { writer["items"] }

  init() throws {
    let server = try Faults.server()
    let configuration = Faults.configuration { $0.busyTimeout = .seconds(10) }
    name = configuration.schema
    builder = try Store.postgres(
      server.url() + "?application_name=\(name)", engine: configuration)
    writer = try Store.postgres(server.url(), engine: configuration)
    observer = try Store.postgres(server.url(), engine: configuration)
    for n in 0..<20 as Range<Int64> { try items.save(["n": .int(n)], key: "\(n)") }
  }

  /// Runs a closure while a build waits for a transaction, and returns the outcome of the build.
  private func duringBuild(
    unique: Bool = false, _ work: @escaping @Sendable (Task<Void, any Error>) throws -> Void
  ) async throws -> Result<Void, any Error> {
    let (builder, writer, observer, name) = (builder, writer, observer, name)
    let build = Task.detached {
      // Begins once the other transaction has written.
      try await Faults.wait(for: "the transaction") {
        try await writer.metadata("begun") != nil
      }
      _ = try await builder["items"].createIndex("n", unique: unique, concurrently: true)
    }
    try await Faults.onThread {
      try writer.write(isolation: .readCommitted) {
        try writer["items"].save(["n": 100], key: "100")
        let other = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          try? writer.setMetadata("yes", "begun")
          other.signal()
        }
        other.wait()
        try Faults.wait(for: "the build waits") {
          try observer.sql(
            """
            SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ? \
            AND query LIKE 'CREATE%CONCURRENTLY%' AND wait_event_type = 'Lock'
            """, name
          ).first?["n"]?.int == 1
        }
        try work(build)
      }
    }
    return await build.result
  }

  private func isLeft() throws -> Bool {
    try writer.sql(
      """
      SELECT count(*) AS n FROM pg_catalog.pg_index AS i \
      WHERE i.indrelid = '\(name).items'::regclass AND NOT i.indisvalid
      """
    ).first?["n"]?.int != 0
  }

  @Test("Others write meanwhile, and the index has all documents")
  func writers() async throws {
    let (writer, items) = (writer, items)
    let built = try await duringBuild { _ in
      let others = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        for n in 0..<20 as Range<Int64> {
          #expect(throws: Never.self) { try items.save(["n": .int(n + 50)], key: "\(n)") }
          #expect(throws: Never.self) { try items.insert(["n": .int(n + 200)]) }
        }
        #expect(throws: Never.self) { try writer["items"].delete("7") }
        #expect((try? items.indexes().isEmpty) == true)
        others.signal()
      }
      others.wait()
    }
    try built.get()
    #expect(try await items.indexes().map(\.name) == builder["items"].indexes().map(\.name))
    #expect(try await items.find("[n] >= ?", 50).count() == 40)
    #expect(try await items.find("[n] = ?", 203).fetch().count == 1)
    #expect(try await writer.verify().isEmpty)
  }

  @Test("A canceled build leaves no index, and the next call creates it", arguments: [true, false])
  func canceled(concurrently: Bool) async throws {
    let built = try await duringBuild { build in
      build.cancel()
      try Faults.wait(for: "the build ends") {
        try observer.sql(
          "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ? AND state = 'active'",
          name
        ).first?["n"]?.int == 0
      }
    }
    #expect(throws: CancellationError.self) { try built.get() }
    #expect(try await items.indexes().isEmpty)
    #expect(try isLeft())
    #expect(try await !writer.verify().isEmpty)
    try await items.createIndex("n", concurrently: concurrently)
    #expect(try await items.indexes().count == 1)
    #expect(try !isLeft())
    #expect(try await writer.verify().isEmpty)
  }

  @Test("Dropping an index that is not complete removes what was built")
  func dropped() async throws {
    let built = try await duringBuild { $0.cancel() }
    #expect(throws: CancellationError.self) { try built.get() }
    _ = try await items.dropIndex("n")
    #expect(try !isLeft())
    #expect(try await !items.dropIndex("n"))
  }

  @Test("The same index cannot be created in a transaction while it is being created concurrently")
  func twice() async throws {
    let items = items
    let built = try await duringBuild { _ in
      let other = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        #expect(Faults.code { try items.createIndex("n") } == .locked)
        other.signal()
      }
      other.wait()
    }
    try built.get()
    #expect(try await items.indexes().count == 1)
  }

  @Test("Duplicate values are reported, and nothing is left that rejects more of them")
  func duplicates() async throws {
    try await items.save(["n": 3], key: "other")
    await #expect(throws: StoreError.self) {
      try await builder["items"].createIndex("n", unique: true, concurrently: true)
    }
    #expect(try !isLeft())
    try await items.save(["n": 3], key: "third")
    try await items.delete("other")
    try await items.delete("third")
    try await builder["items"].createIndex("n", unique: true, concurrently: true)
    await #expect(throws: StoreError.self) { try await items.save(["n": 3], key: "third") }
  }

  @Test("Stores that create the same index at the same time create one")
  func together() async throws {
    let stores = [builder, writer]
    try await withThrowingTaskGroup { group in
      for number in 0..<4 {
        group.addTask {
          _ = try await stores[number % 2]["items"].createIndex("n", concurrently: true)
        }
      }
      try await group.waitForAll()
    }
    #expect(try await items.indexes().count == 1)
    #expect(try !isLeft())
  }

  @Test("Stores that create different indexes at the same time do not end each other's builds")
  func different() async throws {
    let stores = [builder, writer]
    let fields = ["n", "m", "l", "k"]
    try await withThrowingTaskGroup { group in
      for (number, field) in fields.enumerated() {
        group.addTask {
          _ = try await stores[number % 2]["items"].createIndex(field, concurrently: true)
        }
      }
      try await group.waitForAll()
    }
    #expect(try await items.indexes().count == fields.count)
    #expect(try !isLeft())
  }

  @Test("A build whose connection is lost is repeated by the next call")
  func lost() async throws {
    let store = try CutStore()
    let cut = store.cut["items"]
    for n in 0..<20 as Range<Int64> { try await store.direct["items"].insert(["n": .int(n)]) }
    for _ in 0..<(5 * Faults.rounds) {
      let build = Task.detached { _ = try await cut.createIndex("n", concurrently: true) }
      try await Task.sleep(for: .milliseconds(Int.random(in: 1...60)))
      store.proxy.cutAll()
      _ = await build.result
      try await store.direct["items"].createIndex("n", concurrently: true)
      #expect(try await store.direct["items"].indexes().count == 1)
      #expect(try await store.direct["items"].find("[n] >= ?", 5).count() == 15)
      #expect(try await store.direct.verify().isEmpty)
      try await store.direct["items"].dropIndex("n")
    }
    try store.close()
  }

  @Test("A collection that is dropped during a build has no index afterward")
  func collectionDropped() async throws {
    let items = items
    let built = try await duringBuild { _ in
      Thread.detachNewThread { _ = try? items.drop() }
    }
    if case .failure(let error) = built {
      #expect([.locked, .database].contains((error as? StoreError)?.code))
    }
    try await items.save(["n": 1], key: "a")
    try await items.createIndex("n", concurrently: true)
    #expect(try await items.indexes().count == 1)
    #expect(try await writer.verify().isEmpty)
  }

  @Test("A document that an index rejects before it is recorded violates a unique index")
  func rejected() throws {
    let again: DocumentObject = ["n": 3]
    try Faults.server().psql(
      "CREATE UNIQUE INDEX ON \(name).items (\(name).nano_number(body -> 'n'))")

    #expect(Faults.code { try items.insert(again) } == .uniqueViolation)
    #expect(Faults.code { try items.insert(again, key: "other") } == .uniqueViolation)
    #expect(Faults.code { _ = try items.insert([["n": 50], again]) } == .uniqueViolation)
    #expect(Faults.code { try items.apply([.insert(again, key: "other")]) } == .uniqueViolation)
    #expect(Faults.code { try items.save(again, key: "other") } == .uniqueViolation)

    #expect(try items.count() == 20)
  }

  @Test("Builds that fail when they lock the index leave no connection in use")
  func failedLock() throws {
    let server = try Faults.server()
    let schema = name + "_failing"
    try server.psql(
      """
      CREATE SCHEMA \(schema);
      CREATE FUNCTION \(schema).pg_try_advisory_xact_lock(bigint) RETURNS boolean LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'no lock'; END $$;
      """)
    let store = try Store.postgres(
      server.url() + "?options=-csearch_path%3D\(schema),pg_catalog",
      engine: Faults.configuration { $0.maximumConnections = 2 })
    let items = store["items"]
    try items.save(["n": 1], key: "a")

    for _ in 0..<3 {
      #expect(
        Faults.code { _ = try items.createIndex("n", concurrently: true) } == .database)
    }

    #expect(try items.count() == 1)
    try store.close()
  }

  @Test("Concurrent creation is not possible in a transaction or with a single connection")
  func refused() throws {
    #expect(
      Faults.code {
        try builder.write { _ = try builder["items"].createIndex("n", concurrently: true) }
      } == .invalidArgument)
    let single = try Store.postgres(
      Faults.server().url(), engine: Faults.configuration { $0.maximumConnections = 1 })
    #expect(
      Faults.code { _ = try single["items"].createIndex("n", concurrently: true) } == .unsupported)
  }
}
