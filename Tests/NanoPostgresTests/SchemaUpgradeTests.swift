// SPDX-License-Identifier: MIT

import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("A store in the tables of format 1", .postgres)
struct SchemaUpgradeTests {
  private let server: PostgresServer
  private let configuration: PostgresConfiguration

  /// Creates a store with documents whose tables are as the first release created them.
  init() throws {
    server = try Faults.server()
    configuration = Faults.configuration()
    let store = try Store.postgres(server.url(), engine: configuration)
    for n in 0..<10 as Range<Int64> { try store["items"].save(["n": .int(n)], key: "\(n)") }
    try store["items"].createIndex("n", unique: true)
    try store["items"].delete("9")
    try store["Empty Ü"].save(["n": 1], key: "a")
    try store["Empty Ü"].delete("a")
    try store.setMetadata(7, "m")
    try store.close()
    let schema = "\"\(configuration.schema)\""
    try server.psql(
      """
      SET search_path = \(schema);
      ALTER TABLE nano_collections ADD next_row_id bigint NOT NULL DEFAULT 1,
        ADD changes bigint NOT NULL DEFAULT 0, DROP COLUMN feed;
      UPDATE nano_collections SET next_row_id = CASE name WHEN 'items' THEN 11 ELSE 2 END;
      DO $$ DECLARE t record; BEGIN
        FOR t IN SELECT table_name, pg_get_serial_sequence(format('%I', table_name), 'id') AS ids
          FROM nano_collections
        LOOP
          EXECUTE format('ALTER TABLE %I ALTER COLUMN id DROP DEFAULT', t.table_name);
          EXECUTE 'DROP SEQUENCE ' || t.ids;
        END LOOP; END $$;
      ALTER TABLE nano_transactions DROP COLUMN xid, DROP COLUMN stamp, DROP COLUMN writer,
        DROP COLUMN changed;
      DROP SEQUENCE nano_stamps;
      CREATE INDEX nano_transactions_applied ON nano_transactions (applied);
      UPDATE nano_format SET version = 1;
      """)
  }

  @Test("It is upgraded when it is opened, and keeps documents, indexes and metadata")
  func upgraded() throws {
    let store = try Store.postgres(server.url(), engine: configuration)
    let items = store["items"]
    #expect(try items.count() == 9)
    #expect(try items.find("[n] = ?", 3).fetch().map(\.key) == ["3"])
    #expect(try store.metadata("m") == 7)
    #expect(throws: StoreError.self) { try items.save(["n": 3], key: "other") }
    // Row IDs are not assigned twice, not even that of the deleted document.
    #expect(try #require(items.insert(["n": 50]).rowID) >= 11)
    #expect(try #require(store["Empty Ü"].insert(["n": 1]).rowID) >= 2)
    try items.setChangeTracking(.on)
    try items.save(["n": 51], key: "new")
    #expect(try store.verify().isEmpty)
    try store.close()
  }

  @Test("Programs that open it at the same time upgrade it once")
  func together() throws {
    let (server, configuration) = (server, configuration)
    Faults.inThreads(6) { number in
      #expect(throws: Never.self) {
        let store = try Store.postgres(server.url(), engine: configuration)
        try store["items"].save(["n": .int(Int64(100 + number))], key: "new \(number)")
        try store.close()
      }
    }
    let store = try Store.postgres(server.url(), engine: configuration)
    #expect(try store["items"].count() == 15)
    #expect(try store.verify().isEmpty)
    try store.close()
  }

  @Test("A program of the first release that is still connected fails when it writes")
  func old() throws {
    try Store.postgres(server.url(), engine: configuration).close()
    #expect(throws: (any Error).self) {
      try server.psql(
        "UPDATE \"\(configuration.schema)\".nano_collections SET next_row_id = next_row_id + 1")
    }
  }
}
