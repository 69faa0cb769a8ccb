// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import Testing

@Suite("Parts of documents that a query reads")
struct DocumentPartsTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// Keys, types and versions as a query shows them.
  private func shown(_ engine: some Engine) throws -> [String] {
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

  @Test("A part is shown from the first document on that has it, to other connections too")
  func growing() throws {
    let path = folder.file("parts.db")
    let engine = try SQLiteEngine(.file(path), SQLiteConfiguration())
    let other = try SQLiteEngine(.file(path), SQLiteConfiguration())

    try insert(engine)
    #expect(try shown(engine) == ["- - -"])
    #expect(try shown(other) == ["- - -"])

    try insert(engine, key: "a")
    #expect(try shown(engine) == ["- - -", "a - -"])
    #expect(try shown(other) == ["- - -", "a - -"])

    try insert(other, type: "Car", version: 2)
    #expect(try shown(engine) == ["- - -", "a - -", "- Car 2"])
    #expect(try shown(other) == ["- - -", "a - -", "- Car 2"])
  }

  @Test("A part that was rolled back is shown when it comes again")
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
    #expect(try shown(engine) == ["- - -"])

    try insert(engine, type: "Car")
    #expect(try shown(engine) == ["- - -", "- Car -"])
  }

  @Test("Types that another program writes are shown at once, and after they were adopted")
  func foreign() throws {
    let path = folder.file("parts.db")
    let engine = try SQLiteEngine(.file(path), SQLiteConfiguration())
    try insert(engine)

    try PlainSQLite(path).run("UPDATE things SET type = 'Car', version = 3")
    #expect(try shown(engine) == ["- Car 3"])
    try PlainSQLite(path).run("INSERT INTO things(key, body) VALUES ('k', '{}')")
    #expect(try shown(engine) == ["- Car 3", "k - -"])

    try insert(engine)
    #expect(try shown(engine) == ["- Car 3", "k - -", "- - -"])
  }
}
