// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("SQL statements and the store's internal tables", .timeLimit(.minutes(10)))
struct StatementGuardTests {
  let scratch: Scratch
  let store: Store

  init() throws {
    scratch = try Scratch()
    store = try Store(.file(scratch.file("a.db")))
    try store["people"].insert([["n": 1, "tags": ["a"]], ["n": 2, "tags": ["b"]]])
    try store["people"].createIndex("tags")
    try store.setMetadata("v", "m")
    try store.execute("CREATE TABLE tariff (name TEXT PRIMARY KEY, price REAL)")
    try store.execute("CREATE VIEW cheap AS SELECT name FROM tariff WHERE price < 5")
  }

  @Test(
    "A statement that would damage the store is rejected and changes nothing",
    arguments: [
      ("DELETE FROM nano_paths", "nano_paths"),
      ("delete from NANO_PATHS", "nano_paths"),
      ("DELETE FROM main.nano_metadata WHERE name = 'm'", "nano_metadata"),
      ("UPDATE nano_collections SET generation = 7", "nano_collections"),
      ("INSERT INTO nano_metadata VALUES ('x', '1')", "nano_metadata"),
      (
        "WITH x AS (SELECT 1) DELETE FROM nano_elements_people_tags_elements",
        "nano_elements_people_tags_elements"
      ),
      ("UPDATE people SET revision = 1", "people"),
      ("UPDATE People SET body = body, revision = 1", "people"),
      ("DROP TABLE people", "people"), ("DROP TABLE nano_indexes", "nano_indexes"),
      ("ALTER TABLE people ADD COLUMN x", "people"), ("ALTER TABLE people RENAME TO p", "people"),
      ("ALTER TABLE people DROP COLUMN type", "people"),
      ("DROP INDEX nano_key_people", "nano_key_people"),
      ("DROP TRIGGER nano_foreign_people", "nano_foreign_people"),
      ("CREATE TABLE nano_mine (a)", "nano_mine"),
      ("CREATE VIEW nano_mine AS SELECT 1", "nano_mine"),
      ("CREATE INDEX nano_mine ON people(added)", "nano_mine"),
      ("CREATE INDEX mine ON nano_paths(types)", "nano_paths"),
      ("CREATE TRIGGER nano_mine AFTER INSERT ON people BEGIN SELECT 1; END", "nano_mine"),
      ("CREATE TRIGGER mine AFTER INSERT ON nano_paths BEGIN SELECT 1; END", "nano_paths"),
      ("CREATE TEMP TABLE people (id, body)", "people"),
      ("CREATE TEMP VIEW people AS SELECT 1 AS id", "people"),
      ("CREATE VIRTUAL TABLE temp.pages USING sqlite_dbpage", "sqlite_dbpage"),
    ])
  func rejected(statement: String, table: String) throws {
    let before = try state()

    let error = error { try store.execute(statement) }

    #expect(error?.code == .notPermitted)
    #expect(error?[.table]?.lowercased() == table)
    #expect(error?[.hint]?.contains("allowsInternalWrites") == true)
    #expect(try state() == before)
    #expect(try store.verify() == [])
  }

  private func state() throws -> [String] {
    try ["nano_paths", "nano_collections", "nano_metadata", "people", "sqlite_schema"].map {
      "\(try store.sql("SELECT * FROM \($0)").map(\.values))"
    }
  }

  @Test(
    "Settings of the file and the connection cannot be changed, inside or outside a transaction",
    arguments: [
      "PRAGMA writable_schema = ON", "PRAGMA writable_schema(1)", "PRAGMA journal_mode = delete",
      "PRAGMA schema_version = 9", "PRAGMA user_version = 9", "PRAGMA application_id = 0",
      "PRAGMA query_only = 1", "PRAGMA locking_mode = exclusive", "PRAGMA synchronous = off",
      "PRAGMA trusted_schema = on", "PRAGMA main.case_sensitive_like = 1",
    ])
  func settings(statement: String) throws {
    #expect(code { _ = try store.sql(statement) } == .notPermitted)
    #expect(code { try store.execute(statement) } == .notPermitted)
    #expect(error { try store.execute(statement) }?[.actual]?.hasPrefix("PRAGMA ") == true)
    #expect(code { try store.write { _ = try store.sql(statement) } } == .notPermitted)
    #expect(try store.statistics().settings["journal_mode"] == "wal")
    try store["people"].insert(["n": 3])
  }

  @Test("Harmless statements are permitted")
  func permitted() throws {
    try store.execute("INSERT INTO tariff VALUES ('a', 1), ('b', 9)")
    try store.execute("UPDATE people SET body = json_set(body, '$.n', 5) WHERE id = 1")
    try store.execute("INSERT INTO people(body) VALUES ('{\"tags\":[\"c\"]}')")
    try store.execute("CREATE INDEX mine ON people(added)")
    try store.execute("DELETE FROM people WHERE id = 2")
    try store.execute("ALTER TABLE tariff ADD COLUMN note")
    for name in ["nano_bags", "\"Nano_x\"", "[nano_y]"] {
      let error = #expect(throws: StoreError.self) {
        try store.execute("ALTER TABLE tariff /* a */ RENAME TO \(name)")
      }
      #expect(error?.code == .notPermitted)
    }
    try store.execute("ALTER TABLE tariff RENAME COLUMN note TO nano_note")
    try store.execute("ALTER TABLE tariff RENAME COLUMN nano_note TO note")
    try store.execute("DROP VIEW cheap")
    try store.execute("DROP INDEX mine")
    try store.execute("ANALYZE")
    #expect(try store.sql("PRAGMA table_info(people)").count == 7)
    #expect(try store.sql("PRAGMA page_size").count == 1)
    #expect(try store.sql("SELECT * FROM nano_paths").count == 3)
    #expect(try store["people"].find(Field("tags") == "c").count() == 1)
    #expect(try store["people"].find(Field("n") == 5).count() == 1)
    #expect(try store.verify() == [])
  }

  @Test(
    "Inserting rows with a revision is rejected, however the statement says so, and changes nothing",
    arguments: [
      "INSERT INTO people SELECT * FROM archive", "REPLACE INTO people SELECT * FROM archive",
      "INSERT OR IGNORE INTO main.people AS p SELECT * FROM archive",
      "INSERT INTO people(\"Revision\", body) VALUES (7, '{}')",
      "INSERT INTO people(body, 'revision') VALUES ('{}', 7)",
      "INSERT INTO people /* all */ (body, [revision]) VALUES ('{}', 7) RETURNING id",
      "WITH a AS (SELECT * FROM archive) INSERT INTO people SELECT * FROM a",
    ])
  func insertedRevision(statement: String) throws {
    try store.execute("CREATE TABLE archive AS SELECT * FROM people")
    try store.execute("DELETE FROM people WHERE id = 2")
    try store.write {
      #expect(code { try store.execute(statement) } == .notPermitted)
      try store["people"].insert(["n": 3])
    }
    #expect(try store["people"].find().rowIDs() == [1, 3])
  }

  @Test("A trigger that a statement fires cannot insert rows with a revision either")
  func revisionInsertedByTrigger() throws {
    try store.execute("CREATE TABLE archive AS SELECT * FROM people")
    try store.execute("CREATE TABLE requests(id)")
    try store.execute(
      "CREATE TRIGGER restore AFTER INSERT ON requests BEGIN "
        + "INSERT INTO people SELECT * FROM archive WHERE id = NEW.id; END")
    try store.execute("DELETE FROM people WHERE id = 2")
    #expect(code { try store.execute("INSERT INTO requests(id) VALUES (2)") } == .notPermitted)
    try store.execute("UPDATE archive SET revision = NULL")
    try store.execute("INSERT INTO requests(id) VALUES (2)")
    #expect(try store["people"].find(Field("tags") == "b").rowIDs() == [2])
    #expect(try store.verify() == [])
  }

  @Test("A canceled or failing INSERT that may set revisions throws its own error")
  func failingInsertion() throws {
    try store["people"].createIndex("n", unique: true)
    try store.execute("CREATE TABLE archive AS SELECT * FROM people")
    try store.execute("UPDATE archive SET revision = NULL, id = id + 10")
    for conflict in ["", "OR ROLLBACK "] {
      let statement = "INSERT \(conflict)INTO people SELECT * FROM archive"
      #expect(code { try store.execute(statement) } == .uniqueViolation)
    }
    try store["people"].insert(["n": 3])
    #expect(try store["people"].count() == 3)
  }

  @Test(
    "Rows of an archive without their revision are found again with every index",
    arguments: [
      "INSERT INTO people(id, key, type, version, added, body) "
        + "SELECT id, key, type, version, added, body FROM archive",
      "INSERT INTO people SELECT id, key, type, version, added, NULL, body FROM archive",
    ])
  func archive(statement: String) throws {
    try store["people"].createFullTextIndex("name")
    try store["people"].save(["name": "Ada", "tags": ["c"]], key: "k")
    try store.execute("CREATE TABLE archive AS SELECT * FROM people")
    try store.execute("DELETE FROM people")
    try store.execute(statement)
    #expect(try store["people"].search("ada").keys() == ["k"])
    #expect(try store["people"].find(Field("tags") == "b").count() == 1)
    #expect(try store.verify() == [])
  }

  @Test("A custom trigger cannot write to internal tables, whichever write fires it")
  func triggers() throws {
    try store.execute(
      "CREATE TRIGGER mine AFTER INSERT ON people BEGIN DELETE FROM nano_metadata; END")

    #expect(code { try store.execute("INSERT INTO people(body) VALUES ('{}')") } == .notPermitted)
    #expect(code { try store["people"].insert(["n": 3]) } == .notPermitted)
    #expect(try store.metadata("m") == "v")

    try store.execute("DROP TRIGGER mine")
    try store["people"].insert(["n": 3])
    #expect(try store["people"].count() == 3)
  }

  @Test(
    "A custom trigger cannot write revisions of any collection, even the first write after opening",
    arguments: ["people", "other"])
  func triggersThatWriteRevisions(collection: String) throws {
    try store["other"].insert(["n": 1])
    try store.execute(
      "CREATE TRIGGER mine AFTER INSERT ON people BEGIN "
        + "UPDATE \(collection) SET revision = 7 WHERE id = 1; END")
    try store.close()

    let reopened = try Store(.file(scratch.file("a.db")))

    #expect(code { try reopened["people"].insert(["n": 3]) } == .notPermitted)
    #expect(try reopened["people"].count() == 2)
    try reopened.execute("DROP TRIGGER mine")
    try reopened["people"].insert(["n": 3])
    #expect(try reopened["people"].count() == 3)
    #expect(try reopened.verify() == [])
  }

  @Test("An attached file is protected under any schema name")
  func attached() throws {
    let other = try Store(.file(scratch.file("b.db")))
    try other["people"].insert(["n": 1])
    try other.close()
    try store.execute("ATTACH ? AS other", scratch.file("b.db"))

    #expect(code { try store.execute("DELETE FROM other.nano_paths") } == .notPermitted)
    #expect(code { try store.execute("DROP TABLE other.people") } == .notPermitted)
    try store.execute("DETACH other")
    try other.reopen()
    #expect(try other["people"].count() == 1)
    #expect(try other.verify() == [])
  }

  @Test("What an attached file has under the names of a collection is not dropped with it")
  func droppedBesideAttached() throws {
    let other = try Store(.file(scratch.file("b.db")))
    let films = other["films"]
    try films.setChangeTracking(.on)
    try films.setIndexing(.everything)
    try films.insert([["n": 1], ["n": 2]])
    try films.delete(rowID: 2)
    try other.close()
    try store["films"].insert(["n": 3])
    try store.execute("ATTACH ? AS other", scratch.file("b.db"))

    try store["films"].setChangeTracking(.on)
    try store["films"].setChangeTracking(.off)
    try store["films"].drop()
    #expect(try store["films"].get(rowID: 1) == nil)

    try store.close()
    try other.reopen()
    #expect(try films.find(Field("n") == 1).count() == 1)
    guard case .entries(let entries, _, _) = try films.changes(since: nil) else {
      return #expect(Bool(false), "the feed was lost")
    }
    #expect(entries.count == 2)
    #expect(try other.verify() == [])
  }

  @Test("A collection cannot be created under the name of a temporary table")
  func shadowed() throws {
    try store.execute("CREATE TEMP TABLE staging AS SELECT * FROM people")
    #expect(code { try store["staging"].insert(["n": 1]) } == .invalidName)
    try store.execute("DROP TABLE staging")
    try store["staging"].insert(["n": 1])
    #expect(try store["staging"].count() == 1)
  }

  @Test(
    "allowsInternalWrites permits internal writes, and an in-memory store rejects them by default",
    .sqlite)
  func allowed() throws {
    try store.close()
    let open = try Store.file(scratch.file("a.db")) { $0.allowsInternalWrites = true }
    #expect(try open.execute("DELETE FROM nano_metadata") == 1)
    try open.execute("PRAGMA user_version = 1")
    let memory = try anyStore()
    try memory["a"].insert(["n": 1])
    #expect(code { try memory.execute("DELETE FROM nano_paths") } == .notPermitted)
    #expect(code { _ = try memory.sql("PRAGMA query_only = 1") } == .notPermitted)
    #expect(try memory["a"].count() == 1)
  }

  @Test("A statement that changes no rows returns 0, whatever an earlier one changed")
  func changes() throws {
    #expect(try store.execute("UPDATE people SET body = body") == 2)
    #expect(try store.execute("CREATE TABLE other (a)") == 0)
    #expect(try store.execute("INSERT INTO other VALUES (1), (2), (3)") == 3)
    #expect(try store.execute("CREATE INDEX mine ON other(a)") == 0)
    #expect(try store.execute("DELETE FROM other") == 3)
    #expect(try store.execute("DELETE FROM other") == 0)
    #expect(try store.execute("DROP TABLE other") == 0)
  }

  @Test("Async calls apply the same checks", .sqlite)
  func asynchronous() async throws {
    #expect(await asyncCode { try await store.execute("DELETE FROM nano_paths") } == .notPermitted)
    #expect(try await store.execute("DELETE FROM people") == 2)
  }
}

@Suite("Tables and query plans", .timeLimit(.minutes(10)))
struct TablesTests {
  @Test("Tables are listed with their kind, columns in order, and indexes", .sqlite)
  func tables() throws {
    let store = try anyStore()
    try store["People"].insert(["n": 1])
    try store["People"].createIndex("n")
    try store.execute(
      "CREATE TABLE tariff (name TEXT NOT NULL, price REAL DEFAULT 1.5, PRIMARY KEY (price, name))")
    try store.execute("CREATE UNIQUE INDEX mine ON tariff(name, price * 2) WHERE price > 1")
    try store.execute("CREATE VIEW cheap AS SELECT name FROM tariff")

    let tables = try store.tables()

    let kinds = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.kind) })
    #expect(kinds["People"] == .collection)
    #expect(kinds["nano_paths"] == .internal)
    #expect(kinds["tariff"] == .table)
    #expect(kinds["cheap"] == .view)
    let tariff = try #require(tables.first { $0.name == "tariff" })
    #expect(
      tariff.columns == [
        SQLTable.Column(
          name: "name", type: "TEXT", isRequired: true, defaultValue: nil, primaryKeyPosition: 2),
        SQLTable.Column(
          name: "price", type: "REAL", isRequired: false, defaultValue: "1.5",
          primaryKeyPosition: 1),
      ])
    let mine = try #require(tariff.indexes.first { $0.name == "mine" })
    #expect(mine.isUnique && mine.isPartial)
    #expect(mine.columns == ["name", nil])
    #expect(mine.definition?.hasPrefix("CREATE UNIQUE INDEX mine") == true)
    #expect(tariff.indexes.count == 2)
    #expect(tariff.definition.hasPrefix("CREATE TABLE tariff"))
    let people = try #require(tables.first { $0.name == "People" })
    #expect(people.columns.map(\.name).prefix(2) == ["id", "key"])
    #expect(people.indexes.map(\.name).contains("nano_index_People_n"))
  }

  @Test("A view of a table that does not exist is listed without columns")
  func brokenView() throws {
    let store = try Store(.memory)
    try store.execute("CREATE TABLE tariff (name TEXT)")
    try store.execute("CREATE VIEW cheap AS SELECT name FROM tariff")
    try store.execute("DROP TABLE tariff")
    // A temporary table hides the view of the same name.
    try store.execute("CREATE TEMP TABLE cheap (other TEXT)")

    let tables = try store.tables()

    let cheap = try #require(tables.first { $0.name == "cheap" })
    #expect(cheap.kind == .view)
    #expect(cheap.columns == [])
  }

  @Test(
    "A statement is explained without values and without running, even one that writes",
    .sqlite)
  func explain() throws {
    let store = try anyStore()
    try store["a"].insert(["n": 1])

    let plan = try store.explain(sql: "SELECT * FROM a WHERE key = ?")
    #expect(plan.indexes == ["nano_key_a"])
    #expect(plan.plan.count == 1)
    #expect(plan.statement == "SELECT * FROM a WHERE key = ?")
    #expect(try store.explain(sql: "DELETE FROM a").indexes == [])
    #expect(try store["a"].count() == 1)
    #expect(try store.sql("EXPLAIN QUERY PLAN DELETE FROM a").count <= 1)
    #expect(code { _ = try store.explain(sql: "SELECT * FROM b") } == .database)
    #expect(code { _ = try store.explain(sql: "SELECT 1; SELECT 2") } == .invalidArgument)
  }

  @Test("Tables and plans are available with await", .sqlite)
  func asynchronous() async throws {
    let store = try anyStore()
    try await store["a"].insert(["n": 1])
    let tables = try await store.tables()
    #expect(tables.contains { $0.name == "a" && $0.kind == .collection })
    #expect(try await store.explain(sql: "DELETE FROM a WHERE key = ?").indexes == ["nano_key_a"])
  }
}
