// SPDX-License-Identifier: MIT

import Foundation
import NanoSQLite
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Rejected copies and comparisons")
struct CopyRefusalTests {
  let source: CopySource
  let target: Store
  var store: Store { source.store }
  init() throws {
    source = try CopySource()
    target = try Store.file(source.scratch.file("target.db"))
  }

  @Test("A nonempty target is unchanged unless replacing it is allowed")
  func occupied() throws {
    try target["films"].save(["mine": true], key: "k")
    try target.setMetadata(1, "mine")
    let before = try target.checksums()

    #expect(code { try store.copy(to: target) } == .alreadyExists)
    #expect(try target.checksums() == before)
    #expect(try target.metadataNames() == ["mine"])

    #expect(try store.copy(to: target, CopyOptions(replacing: true)).isEqual)
    #expect(try target["films"].get("k") == nil)
    #expect(try target.metadataNames() == ["setting"])
  }

  @Test("A store cannot be copied onto itself, whatever its path")
  func itself() throws {
    let before = try store.checksums()
    let link = source.scratch.file("link.db")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: source.scratch.file("source.db"))
    for other in [
      store, try Store.file(source.scratch.file("source.db")), try Store.file(link),
      // Like a store on a server, whose file is unknown.
      try Store(opening: { [path = source.scratch.file("source.db")] in
        try SQLiteEngine(.file(path), SQLiteConfiguration())
      }),
    ] {
      #expect(code { try store.copy(to: other, CopyOptions(replacing: true)) } == .invalidArgument)
      #expect(try store.checksums() == before)
      #expect(try store.metadataNames() == ["setting"])
    }
    #expect(code { _ = try store.compare(with: store) } == .invalidArgument)
  }

  @Test("A definition that the target does not support is rejected first, or skipped and reported")
  func unsupported() throws {
    let store = try Store.reference()
    try self.store.copy(to: store)
    // SQLite's paths have no escape for a quote.
    let path = FieldPath(components: ["q\"t"])
    try store["films"].createIndex(IndexDefinition(name: "quoted", columns: [.init(path)]))

    let failure = error { try store.copy(to: target) }
    #expect(failure?.code == .unsupported)
    #expect(failure?[.index] == "quoted" && failure?[.collection] == "films")
    #expect(try target.collections().isEmpty && target.metadataNames().isEmpty)

    let report = try store.copy(to: target, CopyOptions(skippingUnsupported: true))
    #expect(report.isEqual)
    #expect(report.omitted.map(\.definition) == ["quoted"])
    #expect(try target["films"].indexes() == self.store["films"].indexes())
    let differences = try store.compare(with: target)
    #expect(differences.hasEqualDocuments && !differences.isEqual)
  }

  @Test("A comparison finds a single changed document, and differences outside documents")
  func differences() throws {
    try store.copy(to: target)
    #expect(try store.compare(with: target).isEqual)
    try target["log"].update(rowID: 2, set: ["line": 99])

    let report = try store.compare(with: target)
    #expect(report.collections.filter { !$0.isEqual }.map(\.name) == ["log"])
    #expect(report.differences.isEmpty)

    try target["films"].dropIndex("tags_elements")
    try target["films"].setAliases([:])
    try target.setMetadata(nil, "setting")
    try target["other"].save([:], key: "k")
    let subjects = Set(try store.compare(with: target).differences.map(\.subject))
    #expect(subjects == ["films", "metadata", "other"])
  }

  @Test("Every part of a document affects the checksum", .sqlite)
  func checksum() throws {
    let statements = [
      "id = 77", "key = 'k'", "type = 'T'", "version = 2", "added = 5", "body = '{\"line\":2 }'",
    ]
    for statement in statements {
      let target = try anyStore()
      try store.copy(to: target)
      try target.execute("UPDATE log SET \(statement) WHERE id = 2")
      #expect(try !store.compare(with: target).hasEqualDocuments, "\(statement)")
    }
  }

  @Test("A checksum is the same on every machine and engine")
  func knownChecksum() throws {
    for store in [try Store.reference(), try anyStore()] {
      let engine = try store.engine()
      for (index, key) in [nil, "early", "0199a1b2-0000-7000-8000-000000000001"].enumerated() {
        var writer = JSONWriter()
        writer.object(["text": .string(String(repeating: "x", count: index * 9))])
        _ = try engine.write(nil) {
          try $0.insert(
            NewDocument(
              key: try key.map { try DocumentKey($0) }, type: index == 1 ? "T" : nil,
              version: index == 2 ? 3 : nil, added: Int64(index), body: writer.bytes), into: "a")
        }
      }
      #expect(try store.checksums()["a"]?.checksum == "cebff9ac49b6d0af2891bc41f3606cc7")
    }
  }

  @Test("Nonpositive batch sizes and copies in a transaction are rejected")
  func arguments() throws {
    for options in [CopyOptions(batchDocuments: 0), CopyOptions(batchBytes: -1)] {
      #expect(code { try store.copy(to: target, options) } == .invalidArgument)
    }
    #expect(code { _ = try store.read { try store.copy(to: target) } } == .invalidArgument)
    #expect(code { _ = try target.write { try store.copy(to: target) } } == .invalidArgument)
    try target.close()
    #expect(code { try store.copy(to: target) } == .closed)
  }
}
