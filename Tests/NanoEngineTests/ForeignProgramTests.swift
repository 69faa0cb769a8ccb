// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

/// The file is an ordinary SQLite database. After writes by other programs, no index or table is stale.
@Suite("Other programs writing to the same file")
struct ForeignProgramTests {
  private let folder: TemporaryFolder
  private let engine: SQLiteEngine
  private let foreign: PlainSQLite

  init() throws {
    folder = try TemporaryFolder()
    engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    foreign = try PlainSQLite(folder.file())
  }

  private func insert(_ object: DocumentObject, key: String? = nil) throws {
    let document = GeneratedDocument(object, key: try key.map { try DocumentKey($0) })
    _ = try engine.write(nil) { writer in try document.new { try writer.insert($0, into: "c") } }
  }

  private func createIndexes(_ indexes: [IndexDefinition]) throws {
    try engine.write(nil) { writer in
      for index in indexes { try writer.createIndex(index, in: "c") }
    }
  }

  private func count(_ path: FieldPath, _ comparison: Comparison, _ value: DocumentValue) throws
    -> Int
  {
    let query = Query(.comparison(.field(path), comparison, .value(value)))
    return try engine.read(.call, nil) { try $0.count(query, in: "c") }
  }

  @Test("An array written by another program in a field of numbers is found by its elements")
  func foreignArray() throws {
    try createIndexes([IndexDefinition(columns: [.init("a")])])
    try insert(["a": 1])
    #expect(try count("a", .equal, 1) == 1)

    try foreign.run("INSERT INTO c(body) VALUES (?)", #"{"a":[1, 2]}"#)
    #expect(try count("a", .equal, 1) == 2)
    #expect(try count("a", .equal, 2) == 1)

    try insert(["a": 2])
    #expect(try count("a", .equal, 2) == 2)
    #expect(try engine.verify() == [])
  }

  @Test("A body updated by another program is found only by its new values")
  func foreignUpdate() throws {
    try createIndexes([
      IndexDefinition(columns: [.init("a")]),
      IndexDefinition(columns: [.init("list")], kind: .elements),
    ])
    try insert(["a": 1, "list": ["x"]])

    try foreign.run("UPDATE c SET body = json_set(body, '$.a', 'text', '$.list[#]', 'y')")

    #expect(try count("a", .equal, 1) == 0)
    #expect(try count("a", .equal, "text") == 1)
    #expect(try count("list", .equal, "y") == 1)
    try foreign.run("DELETE FROM c")
    #expect(try count("list", .equal, "y") == 0)
    #expect(try engine.verify() == [])
  }

  @Test("A unique index also rejects duplicates from other programs")
  func foreignViolation() throws {
    try createIndexes([
      IndexDefinition(columns: [.init("a")], isUnique: true),
      IndexDefinition(columns: [.init("list")], isUnique: true, kind: .elements),
    ])
    try insert(["a": 1, "list": ["x"]])

    for body in [#"{"a":1}"#, #"{"list":["y","x"]}"#] {
      #expect(throws: PlainSQLite.Failure.self) {
        try foreign.run("INSERT INTO c(body) VALUES (?)", body)
      }
    }
    #expect(try foreign.run("SELECT count(*) FROM c") == [["1"]])
    // Replacing a row also replaces its element entries.
    try foreign.run("INSERT OR REPLACE INTO c(id, body) VALUES (1, ?)", #"{"list":["z"]}"#)
    try foreign.run("INSERT INTO c(body) VALUES (?)", #"{"list":["x"]}"#)
    #expect(try engine.verify() == [])
  }

  @Test("Creation dates that are too far away for microseconds are compared as dates")
  func farCreationDates() throws {
    try insert(["a": 1])
    let dates = try (0..<60).map { step in
      let time = 253_402_300_799_123_457 + Int64(step) * 3
      try foreign.run("INSERT INTO c(added, body) VALUES (CAST(? AS INTEGER), '{}')", "\(time)")
      return Date(microsecondsSince1970: time)
    }
    try insert(["a": 2])
    func count(_ comparison: Comparison, _ date: Date) throws -> Int {
      let query = Query(.comparison(.attribute(.added), comparison, .value(.date(date))))
      return try engine.read(.call, nil) { try $0.count(query, in: "c") }
    }

    for date in dates {
      #expect(try count(.equal, date) == dates.count { $0 == date })
      // The two documents of the store were added before.
      #expect(try count(.lessOrEqual, date) == dates.count { $0 <= date } + 2)
      #expect(try count(.greaterOrEqual, date) == dates.count { $0 >= date })
    }
  }

  @Test("The id of a row deleted by another program is not reused")
  func foreignRemoval() throws {
    try insert(["a": 1])
    try insert(["a": 2])
    try foreign.run("DELETE FROM c WHERE id = 2")
    try insert(["a": 3])
    #expect(try foreign.run("SELECT max(id) FROM c") == [["3"]])
  }

  @Test("A damaged body is an error when it is read, and does not hide other documents")
  func foreignDamage() throws {
    try createIndexes([IndexDefinition(columns: [.init("a")])])
    try insert(["a": 1])
    try foreign.run("DROP INDEX nano_index_c_a")
    try foreign.run("INSERT INTO c(body) VALUES ('{\"a\":1')")
    #expect(throws: StoreError.self) { try count("b", .equal, 1) }
    try foreign.run("DELETE FROM c WHERE id = 2")
    #expect(try count("a", .equal, 1) == 1)
  }

  @Test("Two spellings of a collection name are the same collection")
  func collectionNames() throws {
    try createIndexes([IndexDefinition(columns: [.init("a")])])
    let (one, many) = (GeneratedDocument(["a": 1]), GeneratedDocument(["a": [1, 2]]))
    let found = try engine.write(nil) { writer in
      _ = try one.new { try writer.insert($0, into: "c") }
      _ = try many.new { try writer.insert($0, into: "C") }
      return try writer.count(Query(.comparison(.field("a"), .equal, .value(1))), in: "c")
    }
    #expect(found == 2)
  }
}
