// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

@Suite("A collection dropped and recreated by another store", .postgres)
struct DroppedCollectionTests {
  private func stores() throws -> [Store] {
    let configuration = Faults.configuration()
    return try (0..<2).map { _ in try TestDatabase.store(configuration) }
  }

  private let ten = (0..<10).map { ["n": .int(Int64($0))] as DocumentObject }

  private func recreate(_ store: Store) throws {
    try store.write {
      try store["items"].drop()
      _ = try store["items"].insert(ten)
    }
  }

  @Test("A collection recreated in the same transaction never appears empty or missing")
  func neverEmpty() throws {
    let stores = try stores()
    _ = try stores[0]["items"].insert(ten)
    let isDone = Atomic(false)
    Faults.inThreads(4) { thread in
      let items = stores[1]["items"]
      do {
        if thread == 0 {
          for _ in 0..<(30 * Faults.rounds) { try self.recreate(stores[0]) }
          isDone.store(true, ordering: .relaxed)
          return
        }
        while !isDone.load(ordering: .relaxed) {
          switch thread {
          case 1:
            #expect(try items.count() == 10)
            #expect(try items.find("[n] >= ?", 5).count() == 5)
            #expect(try items.fetch().count == 10)
          case 2:
            try stores[1].read {
              _ = try stores[1]["others"].count()
              let count = try items.count()
              #expect(count == 10)
              #expect(try items.find().sorted(by: "n").first()?["n"] == 0)
            }
          default:
            #expect(try stores[1].write { try items.count() } == 10)
            #expect(try items.find("[n] = ?", 3).update(set: ["n": 3]) == 1)
          }
        }
      } catch let error as StoreError where thread == 2 && error.code == .locked {
        // A transaction cannot read a collection that was dropped after its snapshot, and reports this.
      } catch {
        isDone.store(true, ordering: .relaxed)
        Issue.record(error, "thread \(thread)")
      }
    }
    #expect(try stores[0].verify().isEmpty)
    for store in stores { try store.close() }
  }

  @Test("A transaction older than the collection throws instead of finding it empty")
  func late() throws {
    let stores = try stores()
    _ = try stores[0]["items"].insert(ten)
    try stores[0]["others"].save(["n": 1], key: "a")
    for isKnown in [false, true] {
      if isKnown { #expect(try stores[1]["items"].count() == 10) }
      let code = Faults.code {
        try stores[1].read {
          _ = try stores[1]["others"].count()
          try recreate(stores[0])
          #expect(try stores[1]["items"].count() == 10)
        }
      }
      #expect(code == nil || code == .locked)
      let dropped = Faults.code {
        try stores[1].read {
          _ = try stores[1]["others"].count()
          try stores[0]["items"].drop()
          #expect(try stores[1]["items"].count() == 10)
        }
      }
      #expect(dropped == nil || dropped == .locked)
      #expect(try stores[1]["items"].count() == 0)
      _ = try stores[0]["items"].insert(ten)
      #expect(try stores[1]["items"].count() == 10)
    }
  }

  @Test("A transaction older than the collection does not find it without types")
  func lateTypes() throws {
    let stores = try stores()
    let items = stores[1]["items"]
    func create() throws { try stores[0]["items"].save(Document([:], key: "a", type: "Car")) }
    try create()
    try stores[0]["others"].save(["n": 1], key: "a")
    for isKnown in [false, true] {
      if isKnown { #expect(try items.types() == ["Car"]) }
      let code = Faults.code {
        try stores[1].read {
          _ = try stores[1]["others"].count()
          try stores[0].write {
            try stores[0]["items"].drop()
            try create()
          }
          _ = try items.types()
        }
      }
      #expect(code == .locked)
      #expect(try items.types() == ["Car"])
    }
  }

  @Test("A transaction older than the collection does not take its feed for a restored one")
  func lateFeed() throws {
    let stores = try stores()
    let items = stores[1]["items"]
    try stores[0]["items"].setChangeTracking(.on)
    try stores[0]["others"].save(["n": 1], key: "a")
    for isKnown in [false, true] {
      if isKnown { #expect(try items.changeTracking() == .on) }
      let code = Faults.code {
        try stores[1].read {
          _ = try stores[1]["others"].count()
          try stores[0]["items"].drop()
          try stores[0]["items"].setChangeTracking(.on)
          _ = try items.changes(since: nil)
        }
      }
      #expect(code == .locked)
      #expect(try items.changeTracking() == .on)
    }
  }

  @Test("A store opens although another program has dropped the table of a tracked collection")
  func missingTable() throws {
    let configuration = Faults.configuration()
    let store = try TestDatabase.store(configuration)
    try store["items"].setChangeTracking(.on)
    try store["others"].save(["n": 1], key: "a")
    try store.close()
    try Faults.server().psql("DROP TABLE \(configuration.schema).items CASCADE")

    let reopened = try TestDatabase.store(configuration)
    defer { try? reopened.close() }

    #expect(try reopened["others"].count() == 1)
    #expect(Faults.code { _ = try reopened["items"].count() } != nil)
  }

  @Test("A recreated collection has its new definitions")
  func otherDefinitions() throws {
    let stores = try stores()
    let (one, other) = (stores[0]["items"], stores[1]["items"])
    for round in 0..<5 {
      try one.save(["n": "x"], key: "a")
      try one.createIndex("n", unique: true)
      try one.setDefaults(["m": 1])
      #expect(Faults.code { try other.save(["n": "x"], key: "b") } == .uniqueViolation)
      #expect(try other.find("[m] = 1").count() == 1)
      try one.drop()
      if round % 2 == 0 { try one.save(["n": 1], key: "b") }
      #expect(try other.find("[m] = 1").count() == 0)
      #expect(try other.get("a") == nil)
      try other.save(["n": "x"], key: "b")
      try other.save(["n": "x"], key: "c")
      #expect(try other.find("[n] = 'x'").count() == 2)
      #expect(try one.count() == 2)
      try other.drop()
      #expect(try one.count() == 0)
      #expect(try one.get("b") == nil)
    }
    #expect(try stores[0].verify().isEmpty)
  }
}
