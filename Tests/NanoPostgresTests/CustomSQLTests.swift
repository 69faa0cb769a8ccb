// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("Custom SQL on a server", .postgres)
struct CustomSQLTests {
  private let configuration = Faults.configuration { $0.layout = .partitions(2) }
  private let store: Store

  init() throws { store = try TestDatabase.store(configuration) }

  private func count(_ table: String) throws -> DocumentValue? {
    try store.sql("SELECT count(*) AS n FROM \(table)")[0]["n"]
  }

  @Test(
    "A statement that writes is committed, whatever its command tag is",
    arguments: [
      ("CREATE TABLE twin AS SELECT * FROM tariff", "twin", 2),
      ("SELECT n INTO twin FROM tariff", "twin", 2),
      ("CREATE MATERIALIZED VIEW twin AS SELECT * FROM tariff", "twin", 2),
      ("WITH d AS (DELETE FROM tariff WHERE n = 1 RETURNING *) SELECT * FROM d", "tariff", 1),
      ("SELECT clear()", "tariff", 0),
      ("EXPLAIN ANALYZE DELETE FROM tariff", "tariff", 0),
      ("EXPLAIN (\"analyze\") DELETE FROM tariff", "tariff", 0),
      ("EXPLAIN DELETE FROM tariff", "tariff", 2),
    ] as [(String, String, DocumentValue)])
  func committed(statement: String, table: String, rows: DocumentValue) throws {
    try store.execute("CREATE TABLE tariff (n int)")
    try store.execute("INSERT INTO tariff VALUES (1), (2)")
    try store.execute(
      "CREATE FUNCTION clear() RETURNS void LANGUAGE sql AS 'DELETE FROM tariff'")

    try store.execute(statement)

    #expect(try count(table) == rows)
    try store.close()
  }

  @Test(
    "A statement that writes is refused in a read that sees buffered saves, and other reads are not",
    arguments: [
      "DELETE FROM films RETURNING key", "CREATE TABLE mine (n int)",
      "WITH d AS (DELETE FROM films RETURNING key) SELECT key FROM d",
    ])
  func buffered(statement: String) throws {
    store.saveInterval = 10
    try store["films"].save(["year": 1985], key: "a")

    #expect(Faults.code { _ = try store.sql(statement) } == .readOnly)
    try store.read {
      let keys = try store.sql("SELECT key FROM films").map { $0["key"] }
      let years = try store["films"].find().fetch().map { $0["year"] }
      #expect(keys == ["a"] && years == [1985])
    }
    #expect(store.hasUnsavedChanges)
    try store.close()
  }

  @Test(
    "COPY from or to the client is refused, and the transaction continues",
    arguments: [
      "COPY tariff TO STDOUT", "copy (SELECT 1) to stdout", "/* a */ COPY tariff FROM STDIN",
    ])
  func copying(statement: String) throws {
    try store.execute("CREATE TABLE tariff (n int)")

    #expect(Faults.code { _ = try store.sql(statement) } == .invalidArgument)
    try store.write {
      #expect(Faults.code { _ = try store.execute(statement) } == .invalidArgument)
      try store.execute("INSERT INTO tariff VALUES (1)")
    }

    #expect(try count("tariff") == 1)
    try store.close()
  }

  @Test(
    "A statement cannot end the transaction, however it is written",
    arguments: [
      "ABORT", "START TRANSACTION", "PREPARE TRANSACTION 'x'", "prepare /* a */ transaction 'x'",
      "/* /* */ */ COMMIT", "/* /* */ */ -- a\rCOMMIT", "-- a\rROLLBACK",
    ])
  func transactionControl(statement: String) throws {
    #expect(Faults.code { _ = try store.sql(statement) } == .invalidArgument)
    #expect(Faults.code { _ = try store.explain(sql: statement) } == .invalidArgument)
    try store.write {
      try store["films"].save(["n": 1], key: "a")
      #expect(Faults.code { _ = try store.execute(statement) } == .invalidArgument)
    }
    #expect(try store["films"].count() == 1)
    try store.close()
  }

  @Test("Nested comments hide neither a second statement nor a parameter")
  func nestedComments() throws {
    #expect(
      Faults.code { _ = try store.sql("SELECT 1 /* /* */ */; COMMIT") } == .invalidArgument)
    #expect(try store.sql("SELECT 1 AS n; /* /* */ COMMIT */").first?["n"] == 1)
    let rows = try store.sql("SELECT /* /* ? */ ? */ ?::bigint AS n", 7)
    #expect(rows.first?["n"] == 7)
    try store.close()
  }

  @Test(
    "A statement that writes to a collection is refused, however it names the table",
    arguments: [
      "DELETE FROM films", "DELETE FROM films_p0", "UPDATE \"films_p1\" SET version = 1",
      "TRUNCATE films_p0", "DROP TABLE films_p1", "DROP TABLE FILMS", "DROP TABLE Éa",
      "DROP TABLE \"a\"\"b\"", "DROP TABLE U&\"f\\0069lms\"", "ALTER TABLE films ADD x int",
      "CREATE TABLE x AS WITH d AS (DELETE FROM films RETURNING *) SELECT * FROM d",
      "CREATE TABLE x (n int GENERATED ALWAYS AS (1) STORED, k text REFERENCES films (key))",
      "CREATE VIEW nano_mine AS SELECT 1", "DROP SCHEMA $schema CASCADE",
      "DO $$ BEGIN DELETE FROM films; END $$", "EXPLAIN ANALYZE DELETE FROM films_p0",
      "EXPLAIN (\"analyze\") DELETE FROM films", "EXPLAIN (U&\"\\0061nalyze\") DELETE FROM films",
    ])
  func refused(statement: String) throws {
    for name in ["films", "Éa", "a\"b"] { try store[name].save(["n": 1], key: "a") }
    let statement = statement.replacingOccurrences(
      of: "$schema", with: "\"\(configuration.schema)\"")

    try store.write {
      #expect(Faults.code { _ = try store.execute(statement) } == .notPermitted)
    }

    for name in ["films", "Éa", "a\"b"] { #expect(try store[name].count() == 1) }
    #expect(try store.verify().isEmpty)
    try store.close()
  }

  @Test(
    "A definition that only reads a collection is permitted",
    arguments: [
      "CREATE VIEW found AS SELECT key FROM films",
      "CREATE OR REPLACE TEMPORARY VIEW found (as_text) AS SELECT key FROM films",
      "CREATE MATERIALIZED VIEW found AS SELECT key FROM films_p0 UNION SELECT key FROM films_p1",
      "CREATE TABLE found AS (SELECT key FROM films)",
      "CREATE TABLE found AS WITH f AS (SELECT key FROM films) SELECT * FROM f",
    ])
  func reading(statement: String) throws {
    try store["films"].save(["n": 1], key: "a")
    try store.write {
      try store.execute(statement)
      #expect(try count("found") == 1)
    }
    try store.close()
  }

  @Test("A statement is explained without values for its named and numbered parameters")
  func explained() throws {
    try store["films"].save(["n": 1], key: "a")
    for condition in ["key = :key AND id > :id", "key = $1 AND id > $2", "key = ? AND id > ?"] {
      let text = "SELECT * FROM films WHERE \(condition)"
      #expect(try !store.explain(sql: text).plan.isEmpty, "\(condition)")
    }
    #expect(try !store.explain(sql: "DELETE FROM films WHERE key = :key").plan.isEmpty)
    for number in ["65536", "9999999999", "99999999999999999999"] {
      #expect(
        Faults.code { _ = try store.explain(sql: "SELECT $\(number)") } == .invalidArgument)
    }
    #expect(try store["films"].count() == 1)
    try store.close()
  }

  @Test(
    "An operator of jsonb that begins with a question mark is explained",
    arguments: ["body ? 'year'", "body ?| ARRAY['year']", "body @? '$.year'"])
  func explainedOperator(condition: String) throws {
    try store["films"].save(["year": 1985], key: "a")
    let text = "SELECT key FROM films WHERE \(condition)"

    #expect(try store.sql(text).map { $0["key"] } == ["a"])
    #expect(try !store.explain(sql: text).plan.isEmpty)
    try store.write {
      try store["films"].save(["year": 1986], key: "b")
      #expect(try !store.explain(sql: text).plan.isEmpty)
      #expect(try store.sql(text).count == 2)
    }
    #expect(Faults.code { _ = try store.explain(sql: "SELECT ? FRM films") } == .database)
    #expect(try store["films"].count() == 2)
    try store.close()
  }

  @Test("Names, strings and data do not depend on settings of the server")
  func serverSettings() throws {
    let url = try TestDatabase.url()
    let settings =
      "options=-c%20standard_conforming_strings%3Doff%20-c%20bytea_output%3Descape"
    let store = try Store.postgres(
      url + (url.contains("?") ? "&" : "?") + settings,
      engine: Faults.configuration { $0.schema += "\\" })
    let items = store["items"]
    let names = ["\\", "a\\'b", "c\\", "\\' || (SELECT 1 / 0)::text || '"]
    for (number, name) in names.enumerated() {
      let paths = [FieldPath(components: [name]), FieldPath(components: ["o", name])]
      let value = DocumentValue.int(Int64(number))
      try items.save(
        DocumentObject([(name, value), ("o", .object([name: value]))]), key: "\(number)")
      for path in paths {
        let query = items.find(.comparison(.field(path), .equal, .value(value)))
        #expect(try query.keys() == ["\(number)"])
        try items.createIndex(IndexDefinition(columns: [.init(path)]))
        #expect(try query.keys() == ["\(number)"])
        #expect(try query.explain().checkedPerDocument == nil)
      }
    }
    let rows = try store.sql(
      #"SELECT 'a\' AS s, ?::bigint AS n, '\x005c41ff'::bytea AS d, ''::bytea AS e"#, 7)
    #expect(rows.first?["s"] == "a\\")
    #expect(rows.first?["n"] == 7)
    #expect(rows.first?["d"] == .data(Data([0, 0x5C, 0x41, 0xFF])))
    #expect(rows.first?["e"] == .data(Data()))
    #expect(try store.verify().isEmpty)
    try store.close()
  }

  @Test(
    "Explaining executes nothing, even if the text begins with an option",
    arguments: ["ANALYZE DELETE FROM films", "(ANALYZE) DELETE FROM films"])
  func explainedOption(statement: String) throws {
    try store["films"].save(["n": 1], key: "a")
    let code = Faults.code { try store.write { _ = try store.explain(sql: statement) } }
    #expect(code == .database)
    #expect(try store["films"].count() == 1)
    try store.close()
  }

  @Test("Numbered and named parameters cannot be mixed; positional and named ones can")
  func mixedParameters() throws {
    let named: [String: DocumentValue] = ["a": 2]
    #expect(
      Faults.code {
        _ = try store.sql("SELECT $1::bigint, :a::bigint", SQLArguments([1], named: named))
      } == .invalidArgument)
    let rows = try store.sql(
      "SELECT :a::bigint AS a, ?::bigint AS b", SQLArguments([1], named: named))
    #expect(rows.first?["a"] == 2)
    #expect(rows.first?["b"] == 1)
    try store.close()
  }

  @Test("Slices of arrays and colons in strings of any kind are not parameters")
  func notParameters() throws {
    let rows = try store.sql(
      #"""
      SELECT (ARRAY[1, 2, 3])[1:2]::text AS slice, E'a\':x' AS escaped, $a1$:x$a1$ AS dollar, \#
      E'a'
      'b\':x' AS continued, 'b'':x' AS doubled, "n$1" AS named, :x::bigint AS x FROM (SELECT 5 AS "n$1") AS t
      """#, SQLArguments(named: ["x": 1]))
    #expect(rows.first?["slice"] == "{1,2}")
    #expect(rows.first?["escaped"] == "a':x")
    #expect(rows.first?["dollar"] == ":x")
    #expect(rows.first?["continued"] == "ab':x")
    #expect(rows.first?["doubled"] == "b':x")
    #expect(rows.first?["named"] == 5)
    #expect(rows.first?["x"] == 1)
    try store.close()
  }
}
