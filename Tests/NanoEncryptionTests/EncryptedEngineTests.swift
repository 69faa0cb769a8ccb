// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEncryption
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Engine conformance of the encrypted engine")
struct EncryptedEngineTests {
  /// Excludes one check: creating a blind index rewrites documents, which observers report as changes.
  static let checks = EngineConformance.checks.filter {
    $0.name != "Operations that change no document are not reported"
  }

  @Test("Conforms in memory", arguments: checks)
  func memory(check: EngineConformance.Check) throws {
    try EngineConformance {
      try EncryptedEngine(SQLiteEngine(.memory, SQLiteConfiguration()), .test(indexes: .blind))
    }.run(check)
  }

  @Test("Conforms in a file", arguments: checks)
  func file(check: EngineConformance.Check) throws {
    let scratch = try Scratch()
    func open() throws -> any Engine {
      var configuration = SQLiteConfiguration()
      configuration.durability = .fast
      return try EncryptedEngine(
        SQLiteEngine(.file(scratch.file("a.db")), configuration), .test(indexes: .blind))
    }
    func reopen(_ engine: any Engine) throws -> any Engine {
      try engine.close()
      return try open()
    }
    try EngineConformance(reopen: reopen, open).run(check)
  }

  @Test("Conforms on the reference engine", arguments: checks)
  func reference(check: EngineConformance.Check) throws {
    try EngineConformance { try EncryptedEngine(ReferenceEngine(), .test(indexes: .blind)) }.run(
      check)
  }

  @Test("Documents are read by their keys in one call of the inner engine")
  func keys() throws {
    let inner = FailingEngine(ReferenceEngine())
    let engine = try EncryptedEngine(inner, .test())
    let keys = ["a", "b", "c"].map { DocumentKey.text($0) }
    try engine.write(nil) { writer in
      for key in keys {
        _ = try GeneratedDocument(["n": 1], key: key).new { try writer.insert($0, into: "c") }
      }
    }
    inner.succeed()
    var found: Set<DocumentKey> = []

    try engine.get(keys: keys, in: "c", nil) { document in
      #expect(document.body.elementsEqual("{\"n\":1}".utf8))
      if let key = document.key { found.insert(key) }
    }

    #expect(found == Set(keys))
    #expect(inner.calls == 1)
  }

  @Test(
    "An interruption stops a pipeline between the rows of one document", arguments: [true, false])
  func interruptedPipeline(writes: Bool) throws {
    let engine = try EncryptedEngine(ReferenceEngine(), .test())
    try engine.write(nil) { writer in
      _ = try GeneratedDocument(["a": [1, 2, 3]], key: .text("k")).new {
        try writer.insert($0, into: "c")
      }
    }
    let pipeline = try PipelineText("UNWIND [a]").pipeline()
    let interruption = Interruption()
    var rows = 0
    func run(_ reader: any EngineReader) throws {
      try reader.pipeline(pipeline, Query(), in: "c") { _ in
        rows += 1
        interruption.trigger()
        return true
      }
    }

    let error = #expect(throws: StoreError.self) {
      if writes {
        try engine.write(interruption) { try run($0) }
      } else {
        try engine.read(.call, interruption) { try run($0) }
      }
    }

    #expect(error?.code == .interrupted)
    #expect(rows == 1)
  }

  @Test("The state of sync, which names fields, is encrypted if any collection is")
  func syncState() throws {
    let file = try SealedFile()
    let collection = InternalCollection.syncState
    func open() throws -> EncryptedEngine {
      try EncryptedEngine(
        SQLiteEngine(.file(file.path), SQLiteConfiguration()),
        .test(encrypting: .only(["people"])))
    }
    let engine = try open()
    try engine.write(nil) { writer in
      try writer.createCollection(collection.description)
      let problems: DocumentObject = ["problems": ["ada": "reserved (_diagnosis)"]]
      _ = try GeneratedDocument(problems, key: try DocumentKey("people")).new {
        try writer.insert($0, into: collection.rawValue)
      }
    }
    try engine.close()

    for (name, bytes) in try file.bytes() {
      #expect(bytes.range(of: Data("_diagnosis".utf8)) == nil, "in \(name)")
    }
    let again = try open()
    var body = ""
    try again.read(.call, nil) { reader in
      _ = try reader.get(.key(try DocumentKey("people")), in: collection.rawValue) {
        body = String(decoding: $0.body, as: UTF8.self)
      }
    }
    #expect(body.contains("_diagnosis"))
  }

  @Test("Conforms if only other collections are sealed", arguments: EngineConformance.checks)
  func plain(check: EngineConformance.Check) throws {
    try EngineConformance {
      try EncryptedEngine(
        ReferenceEngine(), .test(encrypting: .only(["other things"]), indexes: .blind))
    }.run(check)
  }
}

/// `NANOSTORE_SEED` repeats a run, `NANOSTORE_PAIRS` sets the number of condition and collection pairs that each case
/// compares.
@Suite("The encrypted engine compared with the reference semantics")
struct EncryptedComparisonTests {
  private static let environment = ProcessInfo.processInfo.environment
  static let seed =
    environment["NANOSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)
  static let pairs = environment["NANOSTORE_PAIRS"].flatMap { Int($0) } ?? 500

  @Test("With blind indexes, all results match", arguments: 0..<2)
  func blind(part: UInt64) throws {
    print("comparison: NANOSTORE_SEED=\(Self.seed) (part \(part))")
    try EngineComparison(comparesRevisions: false) {
      try EncryptedEngine(SQLiteEngine(.memory, SQLiteConfiguration()), .test(indexes: .blind))
    }.run(seed: Self.seed &+ part, pairs: Self.pairs)
  }

  @Test("With UTF-16 text encoding, all results match")
  func utf16() throws {
    print("comparison: NANOSTORE_SEED=\(Self.seed) (UTF-16)")
    var configuration = SQLiteConfiguration()
    configuration.encoding = .utf16
    // SQLite replaces this character when it converts between encodings.
    try EngineComparison(avoiding: ["\u{FFFF}"], comparesRevisions: false) { [configuration] in
      try EncryptedEngine(SQLiteEngine(.memory, configuration), .test(indexes: .blind))
    }.run(seed: Self.seed &+ 2, pairs: Self.pairs)
  }
}
