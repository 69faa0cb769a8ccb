// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoPostgres
import NanoQuery
import NanoServerSupport
import NanoTesting
import Testing

@Suite("Limits of batches, row IDs and revisions on a server", .postgres)
struct EngineLimitTests {
  /// Stores documents with the same fields in one call.
  private func store(
    _ object: DocumentObject, _ keys: [DocumentKey], saving: Bool, _ writer: any EngineWriter,
    _ rowIDs: inout [Int64]
  ) throws {
    try GeneratedDocument(object).new { document in
      let batch = keys.map { key in
        var document = document
        document.key = key
        return document
      }
      if saving {
        try writer.save(batch, into: "c", &rowIDs)
      } else {
        try writer.insert(batch, into: "c", &rowIDs)
      }
    }
  }

  private func count(_ engine: PostgresEngine) throws -> Int {
    try engine.read(.snapshot, nil) { try $0.count(Query(), in: "c") }
  }

  @Test(
    "The documents of a batch before one that only a server rejects are stored",
    arguments: [false, true])
  func rejected(saving: Bool) throws {
    let engine = try TestDatabase.engine()
    defer { try? engine.close() }
    let long = String(repeating: "k", count: 2_601)
    let keys = try ["a", "b", long, "c"].map { try DocumentKey($0) }

    var ids: [Int64] = []
    try engine.write(nil) { writer in
      let code = Faults.code { try store(["n": 1], keys, saving: saving, writer, &ids) }
      #expect(code == .invalidKey)
    }

    #expect(ids.count == 2)
    #expect(try count(engine) == 2)
  }

  @Test("The first rejected document of a batch determines the error")
  func firstRejected() throws {
    let engine = try TestDatabase.engine()
    defer { try? engine.close() }
    let long = String(repeating: "k", count: 2_601)
    let keys = try ["a", "b", "a", long].map { try DocumentKey($0) }

    var ids: [Int64] = []
    try engine.write(nil) { writer in
      let code = Faults.code { try store(["n": 1], keys, saving: false, writer, &ids) }
      #expect(code == .duplicateKey)
    }

    #expect(ids.count == 2)
    #expect(try count(engine) == 2)
  }

  @Test("A batch that does not fit in one statement is stored", arguments: [false, true])
  func large(saving: Bool) throws {
    let engine = try TestDatabase.engine()
    defer { try? engine.close() }
    let object: DocumentObject = ["t": .string(String(repeating: "x", count: 25_000_000))]
    let keys = try ["a", "b", "c"].map { try DocumentKey($0) }

    var ids: [Int64] = []
    try engine.write(nil) { try store(object, keys, saving: saving, $0, &ids) }

    #expect(ids.count == 3)
    #expect(try count(engine) == 3)
  }

  @Test("After the last row ID, documents can be replaced, and new ones are rejected")
  func lastRowID() throws {
    let engine = try TestDatabase.engine()
    defer { try? engine.close() }
    let (key, other) = (try DocumentKey("a"), try DocumentKey("b"))
    let old = GeneratedDocument(["n": 1], key: key)
    let new = GeneratedDocument(["n": 2], key: other)

    try engine.write(nil) { writer in
      let id = try old.new { document in
        var document = document
        document.rowID = .max - 1
        return try writer.insert(document, into: "c")
      }
      #expect(try old.new { try writer.save($0, into: "c") } == id)
      let code = Faults.code { _ = try new.new { try writer.save($0, into: "c") } }
      #expect(code == .valueNotStorable)
    }
    _ = try engine.write(nil) { writer in try old.new { try writer.save($0, into: "c") } }
    let code = Faults.code {
      _ = try engine.write(nil) { writer in try new.new { try writer.save($0, into: "c") } }
    }
    #expect(code == .valueNotStorable)
    #expect(try count(engine) == 1)
  }

  @Test("A document with the largest revision, which another program wrote, can be replaced")
  func lastRevision() throws {
    let configuration = Faults.configuration()
    let engine = try TestDatabase.engine(.plain, configuration)
    defer { try? engine.close() }
    let key = try DocumentKey("a")
    let document = GeneratedDocument(["n": 1], key: key)
    let id = try engine.write(nil) { writer in
      try document.new { try writer.save($0, into: "c") }
    }
    func setRevision() throws {
      try Faults.server().psql(
        "UPDATE \"\(configuration.schema)\".c SET revision = 9223372036854775807")
    }
    func save(reading: Bool) throws {
      try engine.write(nil) { writer in
        if reading { try writer.get(.key(key), in: "c") { _ in } }
        for _ in 0..<2 { _ = try document.new { try writer.save($0, into: "c") } }
      }
    }

    for reading in [false, true] {
      try setRevision()
      try save(reading: reading)
      let version = try engine.read(.snapshot, nil) { try $0.version(ofRow: id, in: "c") }
      #expect(try #require(version).revision < .max, "reading \(reading)")
    }
  }

  @Test(
    "A partition with the name of another collection is rejected, and the transaction continues")
  func partitionNames() throws {
    var configuration = TestDatabase.configuration()
    configuration.layout = .partitions(2)
    let engine = try TestDatabase.engine(.plain, configuration)
    defer { try? engine.close() }

    try engine.write(nil) { writer in
      try writer.createCollection(CollectionDescription(name: "log_p0"))
      let code = Faults.code { try writer.createCollection(CollectionDescription(name: "log")) }
      #expect(code == .invalidName)
      try writer.createCollection(CollectionDescription(name: "c"))
    }

    let names = try engine.read(.snapshot, nil) { try $0.collections().map(\.name) }
    #expect(names == ["c", "log_p0"])
  }
}
