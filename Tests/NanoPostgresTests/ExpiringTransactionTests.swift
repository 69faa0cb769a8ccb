// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("Documents that other transactions let expire", .postgres)
struct ExpiringTransactionTests {
  typealias Use = ConcurrentExpiryTests.Use
  typealias UniqueWrite = ConcurrentExpiryTests.UniqueWrite

  private static let past = Date(timeIntervalSince1970: 0)

  private func run(_ isolation: Isolation, isKnown: Bool, isUnique: Bool = false) throws
    -> Interleaving
  {
    try Interleaving(2, isolation, isKnown: isKnown, clock: ManualClock()) { store in
      let items = store["items"]
      if isUnique { try items.createIndex("n", unique: true) }
      try items.save([Document(["n": 1], key: "a"), Document(["n": 9], key: "z")])
      // The collection has expirations.
      try items.setExpiration(.distantPast, of: "z")
      try items.setExpiration(nil, of: "a")
    }
  }

  /// The document that is stored afterward: the former one, a new one, or none.
  private enum Outcome { case former, new, none }

  @Test(
    "A call waits for a transaction that lets its document expire, and finds none",
    arguments: Isolation.allCases, Use.allCases)
  func waiting(isolation: Isolation, use: Use) throws {
    for isKnown in [true, false] {
      for isRolledBack in [true, false] {
        let run = try run(isolation, isKnown: isKnown)
        defer { run.end() }
        let rowID = try run.observer["items"].get("a")?.rowID
        try run[0].step { store in
          try store["items"].update("a", set: ["m": 1])
          try store["items"].setExpiration(Self.past, of: "a")
        }

        let second = try run[1].start { store in
          let items = store["items"]
          var found: Bool?
          let code = Faults.code { found = try use.run(items) }
          return (found, code)
        }
        let isSnapshot = use == .get && isolation == .readCommitted
        #expect(second.isBlocked != isSnapshot)
        if isRolledBack {
          try run[0].rollBack()
        } else {
          #expect(try run[0].commit() == nil)
        }
        let (wasFound, code) = try second.value()
        #expect(try run[1].commit() == nil)

        let finds = isRolledBack || isSnapshot
        let outcome: Outcome
        switch use {
        case .get: outcome = isRolledBack ? .former : .none
        case .update: outcome = finds ? .former : .none
        case .save, .saveSeveral, .insert: outcome = finds ? .former : .new
        case .delete: outcome = .none
        }
        let found = try run.observer["items"].get("a")
        switch outcome {
        case .former: #expect(found?.rowID == rowID)
        case .new:
          #expect(found != nil && found?.rowID != rowID)
          #expect(found?["n"]?.int == 2 && found?["m"] == nil)
        case .none: #expect(found == nil)
        }
        #expect(code == (use == .update && !finds ? .notFound : nil))
        #expect(code != nil || wasFound == (finds || use == .save || use == .saveSeveral))
      }
    }
  }

  @Test(
    "A transaction that has used the collection notices a document that expired since",
    arguments: Isolation.allCases, Use.allCases)
  func since(isolation: Isolation, use: Use) throws {
    let run = try run(isolation, isKnown: true)
    defer { run.end() }
    let rowID = try run.observer["items"].get("a")?.rowID
    #expect(try run[1].step { try $0["items"].get("b") == nil })
    try run[0].step { try $0["items"].setExpiration(Self.past, of: "a") }
    #expect(try run[0].commit() == nil)

    // It may wait for the store that deletes the expired document.
    let code = try run[1].start { store in
      let items = store["items"]
      return Faults.code { _ = try use.run(items) }
    }.value()
    #expect(code == (use == .update ? .notFound : nil))
    #expect(try run[1].commit() == nil)

    let found = try run.observer["items"].get("a")
    switch use {
    case .save, .saveSeveral, .insert:
      #expect(found?["n"]?.int == 2 && found?.rowID != rowID)
    case .get, .update, .delete: #expect(found == nil)
    }
  }

  @Test(
    "A transaction that has used the collection uses the unique value of a document that expired since",
    arguments: Isolation.allCases, UniqueWrite.allCases)
  func uniqueValue(isolation: Isolation, write: UniqueWrite) throws {
    let run = try run(isolation, isKnown: true, isUnique: true)
    defer { run.end() }
    if write == .update { try run.observer["items"].save(["n": 2], key: "b") }
    #expect(try run[1].step { try $0["items"].get("d") == nil })
    try run[0].step { try $0["items"].setExpiration(Self.past, of: "a") }
    #expect(try run[0].commit() == nil)

    try run[1].start { try write.run($0["items"]) }.value()
    #expect(try run[1].commit() == nil)

    #expect(try run.observer["items"].find("[n] = ?", 1).keys() == ["b"])
  }

  @Test("A transaction that locks nothing it reads waits before it lets a locked document expire")
  func locked() throws {
    let run = try run(.serializable, isKnown: true)
    defer { run.end() }
    #expect(try run[0].step { try $0["items"].get("a")?["n"]?.int } == 1)

    let second = try run[1].startAlone { store in
      try store.write(isolation: .readCommitted) {
        _ = try store["items"].setExpiration(Self.past, of: "a")
      }
    }
    #expect(second.isBlocked)
    try run[0].step { try $0["items"].update("a", set: ["n": 2]) }
    #expect(try run[0].commit() == nil)
    try second.value()

    #expect(try run.observer["items"].get("a") == nil)
  }

  @Test("Transactions that use one document, which expires while they wait for it, do not deadlock")
  func oneDocument() throws {
    let run = try Interleaving(3, .serializable, clock: ManualClock()) { store in
      try store["items"].save(["n": 1], key: "a")
      try store["items"].setExpiration(.distantFuture, of: "a")
    }
    defer { run.end() }
    try run[0].step { store in
      try store["items"].update("a", set: ["m": 1])
      try store["items"].setExpiration(Self.past, of: "a")
    }
    let second = try run[1].start { try $0["items"].get("a") == nil }
    #expect(second.isBlocked)
    let third = try run[2].start { try $0["items"].save(["n": 3], key: "a") }
    #expect(third.isBlocked)

    #expect(try run[0].commit() == nil)
    #expect(try second.value())
    #expect(try run[1].commit() == nil)
    _ = try third.value()
    #expect(try run[2].commit() == nil)
    #expect(try run.observer["items"].get("a")?["n"]?.int == 3)
  }

  @Test(
    "A transaction that locks nothing it reads does not renew a document that expires while it waits",
    arguments: [Date.distantFuture, nil])
  func renewed(expiration: Date?) throws {
    let run = try run(.serializable, isKnown: true)
    defer { run.end() }
    try run[0].step { store in
      try store["items"].update("a", set: ["m": 1])
      try store["items"].setExpiration(Self.past, of: "a")
    }
    let second = try run[1].startAlone { store in
      try store.write(isolation: .readCommitted) {
        _ = try store["items"].setExpiration(expiration, of: "a")
      }
    }
    #expect(second.isBlocked)
    #expect(try run[0].commit() == nil)
    try second.value()

    #expect(try run.observer["items"].get("a") == nil)
  }

  @Test(
    "An expired document that a trigger keeps is absent, and writing one with its key throws",
    arguments: Isolation.allCases)
  func kept(isolation: Isolation) throws {
    let run = try run(isolation, isKnown: true)
    defer { run.end() }
    try Self.skip("DELETE", in: run.observer)
    try run.observer["items"].setExpiration(Self.past, of: "a")

    let (found, codes) = try run[0].start { store in
      let items = store["items"]
      let found = try items.get("a") != nil
      let codes = [
        Faults.code { _ = try items.insert(["n": 2], key: "a") },
        Faults.code { _ = try items.save(["n": 2], key: "a") },
        Faults.code {
          try items.save([Document(["n": 2], key: "a"), Document(["n": 3], key: "b")])
        },
      ]
      return (found, codes)
    }.value()

    #expect(!found)
    #expect(codes == [.database, .database, .database])
    #expect(try run[0].commit() == nil)

    try run.observer["items"].setExpirationRule(.after(.seconds(60)))
    #expect(try run.observer["items"].get("a") == nil)
    let observer = run.observer
    let code = Faults.code {
      try observer.write {
        try observer["items"].createIndex("n", unique: true)
        try observer["items"].save(["n": 2], key: "a")
      }
    }
    #expect(code == .database)
  }

  @Test(
    "A document that a trigger keeps or leaves unchanged ends no call", .timeLimit(.minutes(15)))
  func skipped() throws {
    let run = try Interleaving(1, .serializable) { store in
      try store["items"].createIndex("n", unique: true)
      try store["items"].save([Document(["n": 1], key: "a"), Document(["n": 2], key: "b")])
    }
    defer { run.end() }
    let observer = run.observer
    try Self.skip("DELETE", in: observer)
    try Self.skip("UPDATE", in: observer)

    let deleted = try observer.write(isolation: .readCommitted) {
      try observer["items"].find("[n] > 0").delete()
    }
    #expect(deleted == 0)
    let code = Faults.code { try observer["items"].replace(Document(["n": 3], key: "a")) }
    #expect(code == .database)
    #expect(try observer["items"].get("a")?["n"]?.int == 1)
  }

  /// Creates a trigger, as another program would, that skips each change of a document.
  private static func skip(_ event: String, in store: Store) throws {
    let name = try store.sql("SELECT current_schema() AS name").first?["name"]?.string
    let schema = try #require(name)
    try Faults.server().psql(
      """
      SET search_path = \(schema);
      CREATE FUNCTION skip_\(event)() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER skip_\(event) BEFORE \(event) ON items FOR EACH ROW EXECUTE FUNCTION skip_\(event)()
      """)
  }
}
