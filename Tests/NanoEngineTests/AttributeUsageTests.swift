// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import Testing

@Suite("Columns that a query reads")
struct AttributeUsageTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// Returns the key, type and version of each document.
  private func columns(_ engine: some Engine) throws -> [String] {
    var rows: [String] = []
    try engine.read(.snapshot, nil) { reader in
      try reader.find(Query(.constant(true)), in: "things") { stored in
        let version = stored.version.map(String.init) ?? "-"
        rows.append("\(stored.key?.description ?? "-") \(stored.type ?? "-") \(version)")
        return true
      }
    }
    return rows
  }

  private func insert(
    _ engine: some Engine, key: String? = nil, type: String? = nil, version: Int64? = nil
  ) throws {
    try engine.write(nil) { writer in
      try writer.createCollection(CollectionDescription(name: "things", identity: .rowID))
      try Array("{}".utf8).withUnsafeBytes { body in
        _ = try writer.insert(
          NewDocument(
            key: try key.map { try DocumentKey($0) }, type: type, version: version, added: 0,
            body: body), into: "things")
      }
    }
  }

  @Test("A column is read once a document has a value for it, also by other connections")
  func growing() throws {
    let path = folder.file("parts.db")
    let engine = try SQLiteEngine(.file(path), SQLiteConfiguration())
    let other = try SQLiteEngine(.file(path), SQLiteConfiguration())

    try insert(engine)
    #expect(try columns(engine) == ["- - -"])
    #expect(try columns(other) == ["- - -"])

    try insert(engine, key: "a")
    #expect(try columns(engine) == ["- - -", "a - -"])
    #expect(try columns(other) == ["- - -", "a - -"])

    try insert(other, type: "Car", version: 2)
    #expect(try columns(engine) == ["- - -", "a - -", "- Car 2"])
    #expect(try columns(other) == ["- - -", "a - -", "- Car 2"])
  }

  @Test("A column first used in a rolled-back transaction is read when it is used again")
  func rolledBack() throws {
    let engine = try SQLiteEngine(.file(folder.file("parts.db")), SQLiteConfiguration())
    try insert(engine)
    struct Undone: Error {}
    #expect(throws: Undone.self) {
      try engine.write(nil) { writer in
        try Array("{}".utf8).withUnsafeBytes { body in
          _ = try writer.insert(
            NewDocument(key: nil, type: "Car", added: 0, body: body), into: "things")
        }
        throw Undone()
      }
    }
    try engine.write(nil) { writer in
      _ = #expect(throws: Undone.self) {
        try writer.savepoint {
          try Array("{}".utf8).withUnsafeBytes { body in
            _ = try writer.insert(
              NewDocument(key: nil, type: "Car", added: 0, body: body), into: "things")
          }
          throw Undone()
        }
      }
    }
    #expect(try columns(engine) == ["- - -"])

    try insert(engine, type: "Car")
    #expect(try columns(engine) == ["- - -", "- Car -"])
  }

  @Test("Types written by another program are read immediately, and after adoption")
  func foreign() throws {
    let path = folder.file("parts.db")
    let engine = try SQLiteEngine(.file(path), SQLiteConfiguration())
    try insert(engine)

    try PlainSQLite(path).run("UPDATE things SET type = 'Car', version = 3")
    #expect(try columns(engine) == ["- Car 3"])
    try PlainSQLite(path).run("INSERT INTO things(key, body) VALUES ('k', '{}')")
    #expect(try columns(engine) == ["- Car 3", "k - -"])

    try insert(engine)
    #expect(try columns(engine) == ["- Car 3", "k - -", "- - -"])
  }
}
