// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

/// What a nested block that fails has read stays as it was until the outer block ends.
@Suite("Locks of nested blocks that are rolled back", .postgres)
struct NestedBlockLockTests {
  private struct Failed: Error {}

  private func stores(_ timeout: Duration) throws -> (Store, Store) {
    let configuration = Faults.configuration { $0.busyTimeout = timeout }
    let stores = try (0..<2).map { _ in try TestDatabase.store(configuration) }
    try stores[0]["accounts"].createIndex("name", unique: true)
    try stores[0]["accounts"].save(["v": 100, "name": "a"], key: "a")
    return (stores[0], stores[1])
  }

  enum Read: CaseIterable { case document, missingKey, query, rowID, metadata, missingCollection }

  private func read(_ kind: Read, _ store: Store) throws {
    let accounts = store["accounts"]
    switch kind {
    case .document: _ = try accounts.get("a")
    case .missingKey: _ = try accounts.get("b")
    case .query: _ = try accounts.find("[v] > 0").count()
    case .rowID: _ = try accounts.get(rowID: 1)
    case .metadata: _ = try store.metadata("m")
    case .missingCollection: _ = try store["others"].get("a")
    }
  }

  private func change(_ kind: Read, _ store: Store) throws {
    switch kind {
    case .document, .rowID, .query: try store["accounts"].update("a", .increment("v", by: 50))
    case .missingKey: try store["accounts"].save(["name": "b"], key: "b")
    case .metadata: try store.setMetadata(1, "m")
    case .missingCollection: try store["others"].save([:], key: "a")
    }
  }

  /// Reads in a nested block that then fails.
  private func fail(_ kind: Read, _ store: Store, inServer: Bool) throws {
    try store.write { () throws -> Void in
      try read(kind, store)
      // The server aborts the transaction up to the savepoint.
      if inServer { try store["accounts"].save(["v": 1, "name": "a"], key: "c") }
      throw Failed()
    }
  }

  @Test(
    "Others cannot change it, whether the block or the server failed, and can afterward",
    arguments: Read.allCases, 0..<4)
  func locked(_ kind: Read, _ failure: Int) throws {
    let (store, other) = try stores(.milliseconds(300))
    let accounts = store["accounts"]
    try store.write {
      if failure < 2 {
        #expect(throws: (any Error).self) { try fail(kind, store, inServer: failure % 2 == 1) }
      } else {
        // The one between succeeds, or fails too.
        try? store.write {
          #expect(throws: (any Error).self) { try fail(kind, store, inServer: failure % 2 == 1) }
          if failure == 3 { throw Failed() }
        }
      }
      #expect(Faults.code { try change(kind, other) } == .locked)
      try accounts.save(["mine": true], key: "mine")
    }
    try change(kind, other)
    #expect(try other["accounts"].get("mine") != nil)
    // Nothing is held for the session: as many transactions as connections.
    for _ in 0..<8 { try change(kind == .missingKey ? .document : kind, other) }
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "A block that fails as a whole, or reads committed data, holds nothing afterward",
    arguments: [true, false])
  func released(_ isSerializable: Bool) throws {
    let (store, other) = try stores(.milliseconds(300))
    for kind in Read.allCases {
      #expect(throws: Failed.self) {
        try store.write(isolation: isSerializable ? .serializable : .readCommitted) {
          () throws -> Void in
          try? fail(kind, store, inServer: false)
          if !isSerializable { try change(kind, other) }
          throw Failed()
        }
      }
      if isSerializable { try change(kind, other) }
    }
  }

  @Test("A block continues after a nested one that could not get a lock")
  func notLocked() throws {
    let (store, other) = try stores(.milliseconds(300))
    try store.write { () throws -> Void in
      try store["accounts"].update("a", .increment("v", by: 1))
      let code = Faults.code {
        try other.write { () throws -> Void in
          try other["log"].save(["begun": true], key: "1")
          let inner = Faults.code {
            try other.write { () throws -> Void in _ = try other["accounts"].find("[v] > 0").count()
            }
          }
          #expect(inner == .locked)
          try other["log"].save(["failed": true], key: "2")
        }
      }
      #expect(code == nil)
    }
    #expect(try other["log"].count() == 2)
    #expect(try other["accounts"].get("a")?["v"] == 101)
  }

  @Test("Statements of the program in a nested block cause no false conflict")
  func statements() throws {
    let (store, _) = try stores(.seconds(5))
    try store["accounts"].setChangeTracking(.on)
    try store.write { () throws -> Void in
      try? store.write { () throws -> Void in
        try store.execute("UPDATE accounts SET type = 'x'")
        _ = try store["accounts"].get("a")
        throw Failed()
      }
      try store["accounts"].update("a", .increment("v", by: 1))
    }
    #expect(try store["accounts"].get("a")?["v"] == 101)
  }

  /// Adds to what a nested block has read that then fails in the server.
  private func add(_ store: Store, whenRead: () -> Void) -> StoreError.Code? {
    let accounts = store["accounts"]
    return Faults.code {
      try store.write { () throws -> Void in
        var value: Int64 = 0
        try? store.write { () throws -> Void in
          value = try accounts.get("a")?["v"]?.int64 ?? 0
          whenRead()
          try accounts.save(["name": "a"], key: "c")
        }
        try accounts.update("a", set: ["v": .int(value + 1)])
      }
    }
  }

  @Test(
    "If another transaction changes it during the rollback, the outer block fails; nothing is lost in any order"
  )
  func raced() throws {
    for _ in 0..<20 {
      let (store, other) = try stores(.seconds(600))
      let hasRead = DispatchSemaphore(value: 0)
      let codes = Mutex<[Int: StoreError.Code]>([:])
      Faults.inThreads(2) { thread in
        let code: StoreError.Code?
        if thread == 0 {
          code = add(store) { hasRead.signal() }
        } else {
          hasRead.wait()
          code = Faults.code { try change(.document, other) }
        }
        codes.withLock { $0[thread] = code }
      }
      let (outer, changing) = codes.withLock { ($0[0], $0[1]) }
      #expect(changing == nil && (outer == nil || outer == .locked))
      #expect(try store["accounts"].get("a")?["v"] == (outer == nil ? 151 : 150))
    }
  }
}
