// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("Transactions that continue after a failed statement", .postgres)
struct FailedStatementTests {
  /// The failures inside a transaction, in a store with `a` and `b` and unique `n`.
  enum Failure: String, CaseIterable, CustomTestStringConvertible {
    case statement, unknownTable, refusedStatement, duplicateKey, uniqueSave, uniqueUpdate,
      uniqueBatch, largeBatch, index, replaced, savepoint, statementInSavepoint, droppedInSavepoint

    var testDescription: String { rawValue }
    /// The failures that abort the whole transaction, as on the server.
    var isFatal: Bool { [.statement, .unknownTable].contains(self) }

    func run(_ store: Store) throws {
      let items = store["items"]
      switch self {
      case .statement: try store.execute("SELECT 1/0")
      case .unknownTable: _ = try store.sql("SELECT * FROM nowhere")
      case .refusedStatement: try store.execute("DELETE FROM items")
      case .duplicateKey: try items.insert(["n": 77], key: "a")
      case .uniqueSave: try items.save(["n": 1], key: "c")
      case .uniqueUpdate: try items.update("b", set: ["n": 1])
      case .uniqueBatch:
        _ = try items.insert([["n": 51], ["n": 52], ["n": 1]] as [DocumentObject])
      case .largeBatch:
        _ = try items.insert(
          (0..<150).map { ["n": .int($0 == 149 ? 1 : 1_000 + $0)] as DocumentObject })
      case .index:
        try store["others"].save(["m": 1], key: "x")
        try store["others"].save(["m": 1], key: "y")
        try store["others"].createIndex("m", unique: true)
      case .replaced:
        try items.apply([.save(["n": 60], key: "z"), .replace(["n": 5], key: "a", revision: 99)])
      case .savepoint:
        try store.write {
          try items.save(["n": 61], key: "z")
          try store["new"].save(["n": 61], key: "z")
          throw StoreError(.interrupted, "The test ends the block")
        }
      case .statementInSavepoint:
        try store.write {
          try items.save(["n": 61], key: "z")
          try store.execute("SELECT 1/0")
        }
      case .droppedInSavepoint:
        try store.write {
          try items.drop()
          try items.save(["n": 61], key: "z")
          throw StoreError(.interrupted, "The test ends the block")
        }
      }
    }
  }

  private func fill(_ store: Store) throws {
    try store["items"].save(["n": 1], key: "a")
    try store["items"].save(["n": 2], key: "b")
    try store["items"].createIndex("n", unique: true)
  }

  private func contents(_ store: Store) throws -> [String: [String]] {
    var all: [String: [String]] = [:]
    for collection in try store.collections() where !collection.isInternal {
      all[collection.name] = try store[collection.name].fetch()
        .map { "\($0.key?.count == 1 ? $0.key ?? "" : "") \($0["n"] ?? nil) \($0["m"] ?? nil)" }
        .sorted()
    }
    return all
  }

  @Test(
    "A transaction that catches a failure continues as on other engines, or fails as a whole",
    arguments: Failure.allCases, [true, false])
  func caught(failure: Failure, isLast: Bool) throws {
    let store = try TestDatabase.store(Faults.configuration())
    let other = try Store(opening: { ReferenceEngine() })
    defer { try? store.close() }
    for each in [store, other] { try fill(each) }
    func block(_ store: Store) throws {
      try store.write {
        try store["items"].save(["n": 10], key: "d")
        #expect(Faults.code { try failure.run(store) } != nil)
        if !isLast { try store["items"].save(["n": 11], key: "e") }
      }
    }

    if failure.isFatal {
      let before = try contents(store)
      #expect(Faults.code { try block(store) } != nil)
      #expect(try contents(store) == before)
    } else if failure == .refusedStatement || failure == .statementInSavepoint {
      try block(store)
      #expect(try store["items"].find().keys() == ["a", "b", "d"] + (isLast ? [] : ["e"]))
    } else {
      try block(store)
      try block(other)
      #expect(try contents(store) == contents(other))
    }
    #expect(try store.verify().isEmpty)
    try store["items"].save(["n": 100], key: "later")
    #expect(try store["items"].find("[n] = 100").keys() == ["later"])
  }

  @Test("A failure inside a transaction is a StoreError", arguments: Failure.allCases)
  func storeErrors(failure: Failure) throws {
    let store = try TestDatabase.store(Faults.configuration())
    defer { try? store.close() }
    try fill(store)
    try? store.write {
      do {
        try failure.run(store)
        Issue.record("nothing was thrown")
      } catch {
        #expect(error is StoreError, "\(error)")
      }
    }
  }

  @Test("A read transaction rethrows the first failure as a StoreError")
  func reading() throws {
    let store = try TestDatabase.store(Faults.configuration())
    defer { try? store.close() }
    try fill(store)
    try store.read {
      let before = try store["items"].count()
      #expect(before == 2)
      #expect(Faults.code { _ = try store.sql("SELECT 1/0") } == .database)
      // What follows is either correct or a StoreError.
      if let count = try? store["items"].count() { #expect(count == 2) }
    }
    #expect(try store["items"].count() == 2)
  }

  @Test(
    "A connection is usable after a failed transaction that prepared as many statements as possible"
  )
  func preparedStatements() throws {
    let store = try TestDatabase.store(
      Faults.configuration {
        $0.maximumConnections = 1
        $0.keepsStatements = true
      })
    defer { try? store.close() }
    let items = store["items"]
    let fields = (0..<300).map { "f\($0)" }
    try items.save(DocumentObject(fields.map { ($0, DocumentValue.int(1)) }), key: "a")
    #expect(try items.count() == 1)

    var isFull = false
    let code = Faults.code {
      try store.write {
        for field in fields where !isFull {
          _ = try items.find("[\(field)] = ?", 1).count()
          let prepared = try store.sql("SELECT count(*) AS n FROM pg_prepared_statements")
          // The maximum of a connection.
          isFull = prepared.first?["n"] == 256
        }
        _ = try store.sql("SELECT 1/0")
      }
    }

    #expect(isFull)
    #expect(code == .database)
    #expect(try items.count() == 1)
  }

  @Test("Saves that share a transaction are rolled back individually")
  func shared() async throws {
    let store = try TestDatabase.store(Faults.configuration())
    try fill(store)
    let failed = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<100 {
        group.addTask {
          let value: DocumentValue = number % 10 == 0 ? 1 : .int(Int64(1_000 + number))
          return (try? await store["items"].save(["n": value], key: "k\(number)")) == nil
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(failed == 10)
    #expect(try await store["items"].count() == 92)
    #expect(try await store.verify().isEmpty)
    try store.close()
  }
}
