// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Importing rows of other SQLite files")
struct SQLiteRowsTests {
  let scratch: Scratch
  let people: DocumentCollection
  let file: URL

  init() throws {
    scratch = try Scratch()
    people = try anyStore()["people"]
    file = URL(filePath: scratch.file("other.db"))
  }

  /// Creates the other file, with SQL through a process that is not a store.
  private func create(_ sql: String) throws {
    let store = try Store(.file(file.path))
    for statement in sql.split(separator: ";") { try store.execute(String(statement)) }
    try store.close()
  }

  private func objects() throws -> [DocumentObject] { try people.fetch().map { try $0.object() } }

  @Test("Columns become fields with their types; NULL is missing or null; a.b is nested")
  func types() throws {
    try create(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT, "a.b" REAL, "a.c" BLOB, "$x" ANY);
      INSERT INTO p VALUES (1, 'Ada', 1.0, x'0102', 9223372036854775807), (2, NULL, NULL, NULL, '')
      """)
    let report = try people.importRows(
      .table("P"), fromSQLite: file, options: ImportOptions(keyField: "id"))

    #expect(report.documents == 2)
    #expect(try people.find().keys() == ["1", "2"])
    #expect(
      try objects() == [
        ["id": 1, "name": "Ada", "a": ["b": 1.0, "c": .data(Data([1, 2]))], "$x": .int(.max)],
        ["id": 2, "$x": ""],
      ])

    try people.deleteAll()
    try people.importRows(.table("p"), fromSQLite: file, keepsNulls: true)
    #expect(try objects().last == ["id": 2, "name": nil, "a": ["b": nil, "c": nil], "$x": ""])
  }

  @Test("Views, tables without row IDs, quoted names and queries")
  func sources() throws {
    try create(
      """
      CREATE TABLE "od""d name" (k TEXT PRIMARY KEY, n) WITHOUT ROWID;
      INSERT INTO "od""d name" VALUES ('b', 2), ('a', 1);
      CREATE VIEW doubled AS SELECT k AS __key__, 2 * n AS "v.n" FROM "od""d name"
      """)
    try people.importRows(
      .table("od\"d name"), fromSQLite: file, options: ImportOptions(keyField: "k"))
    #expect(try objects() == [["k": "a", "n": 1], ["k": "b", "n": 2]])

    try people.importRows(
      .table("doubled"), fromSQLite: file, options: ImportOptions(replacesDocuments: true))
    #expect(try people.get("b")?.object() == ["v": ["n": 4]])

    try people.deleteAll()
    try people.importRows(
      .query(
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2500) SELECT x FROM c"
      ),
      fromSQLite: file)
    #expect(try people.count() == 2_500)
  }

  @Test("Commits in a write-ahead log are read, and the files are not changed")
  func log() throws {
    let writer = try Store(.file(file.path))
    try writer.execute("CREATE TABLE t (a)")
    try writer.execute("INSERT INTO t VALUES (1), (2)")
    let log = URL(filePath: file.path + "-wal")
    func contents() throws -> [Data] { try [file, log].map { try Data(contentsOf: $0) } }
    let before = try contents()
    #expect(before[1].count > 0)

    #expect(try people.importRows(.table("t"), fromSQLite: file).documents == 2)
    #expect(try contents() == before)

    try writer.close()
    let closed = try Data(contentsOf: file)
    #expect(try people.importRows(.table("t"), fromSQLite: file).documents == 2)
    #expect(try Data(contentsOf: file) == closed)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["other.db"])
  }

  @Test("What cannot be imported is refused, and nothing is stored")
  func refused() throws {
    try create("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (NULL, 3), (1.5, 4)")
    func code(_ rows: SQLiteRows, key: FieldPath? = nil) -> StoreError.Code? {
      error {
        try people.importRows(rows, fromSQLite: file, options: ImportOptions(keyField: key))
      }?.code
    }
    #expect(code(.table("nope")) == .notFound)
    #expect(code(.query("SELECT * FROM nope")) == .database)
    #expect(code(.query("SELECT 1; SELECT 2")) == .invalidArgument)
    #expect(code(.query("DELETE FROM t")) == .invalidArgument)
    #expect(code(.query("DELETE FROM t RETURNING a")) == .invalidArgument)
    #expect(code(.query("ATTACH 'x.db' AS x")) == .invalidArgument)
    #expect(code(.query("SELECT ?")) == .invalidArgument)
    #expect(code(.query("")) == .database)
    #expect(code(.query("SELECT a, b AS a FROM t")) == .invalidCSV)
    #expect(code(.query("SELECT a, b AS 'a.b' FROM t")) == .invalidCSV)
    #expect(code(.query("SELECT a AS '' FROM t")) == .invalidPath)
    #expect(code(.table("t"), key: "c") == .invalidArgument)
    #expect(code(.table("t"), key: "a") == .invalidKey)
    #expect(try people.store.collections().isEmpty)

    let missing = URL(filePath: scratch.file("missing.db"))
    #expect(error { try people.importRows(.table("t"), fromSQLite: missing) }?.code == .cannotOpen)
    #expect(!FileManager.default.fileExists(atPath: missing.path))
    let text = URL(filePath: scratch.file("text"))
    try Data(String(repeating: "text ", count: 1_000).utf8).write(to: text)
    #expect(
      error { try people.importRows(.query("SELECT 1"), fromSQLite: text) }?.code == .notADatabase)
  }

  @Test("Rows that cannot be stored are skipped on request, with their numbers")
  func skipping() throws {
    try create(
      "CREATE TABLE t (a, b); INSERT INTO t VALUES ('x', 1), (NULL, 3), ('x', 4), ('y', CAST(x'ff' AS TEXT)), ('z', 5)"
    )
    let report = try people.importRows(
      .table("t"), fromSQLite: file,
      options: ImportOptions(keyField: "a", skipsInvalidRecords: true))

    #expect(report.documents == 2)
    #expect(report.skippedRecords.compactMap { $0[.record] }.sorted() == ["2", "3", "4"])
    #expect(report.skippedRecords.allSatisfy { $0[.path] == file.path && $0[.line] == nil })
    #expect(try people.find().keys() == ["x", "z"])
  }

  @Test("Canceling the task stops a query that returns no rows")
  func canceling() async throws {
    try create("CREATE TABLE t (a)")
    let task = Task { [people, file] in
      try await people.importRows(
        .query(
          "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"),
        fromSQLite: file)
    }
    try await Task.sleep(for: .milliseconds(200))
    task.cancel()

    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(try await people.count() == 0)
  }
}
