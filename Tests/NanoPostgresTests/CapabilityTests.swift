// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import Testing

@Suite("Unsupported operations on PostgreSQL", .postgres)
struct CapabilityTests {
  private func refusal(_ work: () throws -> Void) -> StoreError? {
    do {
      try work()
      Issue.record("nothing was thrown")
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test("A unique element index is rejected as unsupported")
  func uniqueElements() throws {
    let store = try TestDatabase.store()
    defer { try? store.close() }
    try store["items"].save(["a": [1, 2]], key: "a")
    let error = refusal { try store["items"].createIndex("a", unique: true, elements: true) }
    #expect(error?.code == .unsupported)
    #expect(error?[.capability] == "uniqueElementIndexes")
    #expect(try store["items"].indexes().isEmpty)
  }

  @Test("A unique index on a partitioned collection is rejected as unsupported")
  func uniquePartitions() throws {
    var configuration = TestDatabase.configuration()
    configuration.layout = .partitions(2)
    let store = try TestDatabase.store(configuration)
    defer { try? store.close() }
    try store["items"].save(["n": 1], key: "a")
    let error = refusal { try store["items"].createIndex("n", unique: true) }
    #expect(error?.code == .unsupported)
    #expect(error?[.capability] == "uniqueIndexes")
    #expect(try !store.engine().capabilities.contains(.uniqueIndexes))
    #expect(try store["items"].indexes().isEmpty)
  }

  @Test("A backup is rejected as unsupported")
  func backup() throws {
    let store = try TestDatabase.store()
    defer { try? store.close() }
    try store["items"].save(["n": 1], key: "a")
    let path = NSTemporaryDirectory() + UUID().uuidString
    let error = refusal { try store.backup(to: path) }
    #expect(error?.code == .unsupported)
    #expect(error?[.capability] == "backup")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A rejected operation does not affect the rest of the transaction")
  func insideBlock() throws {
    let store = try TestDatabase.store()
    defer { try? store.close() }
    try store.write {
      try store["items"].save(["a": [1]], key: "a")
      _ = refusal { try store["items"].createIndex("a", unique: true, elements: true) }
      try store["items"].save(["a": [1]], key: "b")
    }
    #expect(try store["items"].count() == 2)
  }
}
