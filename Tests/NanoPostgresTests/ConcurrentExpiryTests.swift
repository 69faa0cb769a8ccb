// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("Expired documents that other transactions have locked", .postgres)
struct ConcurrentExpiryTests {
  /// A minute after the clock's time.
  private static let expiration = Date(timeIntervalSince1970: 1_767_225_660)
  private static let later = Date(timeIntervalSince1970: 1_767_229_200)

  private func run(
    _ isolation: Isolation, _ clock: ManualClock, count: Int = 2, isKnown: Bool = true,
    isUnique: Bool = false
  ) throws -> Interleaving {
    try Interleaving(count, isolation, isKnown: isKnown, clock: clock) { store in
      if isUnique { try store["items"].createIndex("n", unique: true) }
      try store["items"].save(["n": 1], key: "a")
      try store["items"].setExpiration(Self.expiration, of: "a")
    }
  }

  /// Calls that store a document with the key `a`, which has expired.
  enum Write: CaseIterable, Sendable {
    case save, saveSeveral, insert, insertSeveral, getAndSave, getAndInsert, apply

    func run(_ items: DocumentCollection) throws {
      let object: DocumentObject = ["n": 2]
      let documents = try [Document(object, key: "a"), Document(["n": 3], key: "b")]
      switch self {
      case .save: try items.save(object, key: "a")
      case .saveSeveral: try items.save(documents)
      case .insert: try items.insert(object, key: "a")
      case .insertSeveral: try items.insert(documents)
      case .getAndSave:
        guard try items.get("a") == nil else { return }
        try items.save(object, key: "a")
      case .getAndInsert:
        guard try items.get("a") == nil else { return }
        try items.insert(object, key: "a")
      case .apply: try items.apply([.save(object, key: "a"), .insert(["n": 3], key: "b")])
      }
    }
  }

  @Test(
    "A write of an expired document waits for a transaction that has locked it, and stores a new one",
    arguments: Isolation.allCases, Write.allCases)
  func write(isolation: Isolation, write: Write) throws {
    for isKnown in [true, false] {
      for isRolledBack in [false, true] {
        let clock = ManualClock()
        let run = try run(isolation, clock, isKnown: isKnown)
        defer { run.end() }
        try run[0].step { try $0["items"].update("a", set: ["m": 1]) }
        clock.advance(by: .seconds(60))

        let second = try run[1].start { try write.run($0["items"]) }
        #expect(second.isBlocked)
        if isRolledBack {
          try run[0].rollBack()
        } else {
          #expect(try run[0].commit() == nil)
        }
        try second.value()
        #expect(try run[1].commit() == nil)

        let found = try run.observer["items"].get("a")
        #expect(found?["n"]?.int == 2)
        #expect(found?["m"] == nil)
        #expect(try run.observer["items"].expiration(of: "a") == nil)
      }
    }
  }

  /// Calls that store the unique value of the document with the key `a` in the one with the key `b`.
  enum UniqueWrite: CaseIterable, Sendable {
    case insert, insertSeveral, save, update

    func run(_ items: DocumentCollection) throws {
      let object: DocumentObject = ["n": 1]
      switch self {
      case .insert: try items.insert(object, key: "b")
      case .insertSeveral:
        try items.insert([Document(object, key: "b"), Document(["n": 3], key: "c")])
      case .save: try items.save(object, key: "b")
      case .update: try items.update("b", set: ["n": 1])
      }
    }
  }

  @Test(
    "The unique value of an expired document that is locked can be used again, unless it is renewed",
    arguments: UniqueWrite.allCases, [false, true])
  func uniqueValue(write: UniqueWrite, isRenewed: Bool) throws {
    let clock = ManualClock()
    let run = try run(.serializable, clock, isUnique: true)
    defer { run.end() }
    if write == .update { try run.observer["items"].save(["n": 2], key: "b") }
    try run[0].step { store in
      let items = store["items"]
      if isRenewed {
        try items.setExpiration(Self.later, of: "a")
      } else {
        try items.update("a", set: ["m": 1])
      }
    }
    clock.advance(by: .seconds(60))

    let second = try run[1].start { store in
      let items = store["items"]
      return Faults.code { try write.run(items) }
    }
    #expect(second.isBlocked)
    #expect(try run[0].commit() == nil)
    let expected: StoreError.Code? = isRenewed ? .uniqueViolation : nil
    #expect(try second.value() == expected)
    #expect(try run[1].commit() == nil)

    let found = try run.observer["items"].find("[n] = ?", 1).keys()
    #expect(found == [isRenewed ? "a" : "b"])
  }

  @Test(
    "A write does not wait for expired documents that are locked, unless it needs their keys or values",
    arguments: [false, true])
  func others(isUnique: Bool) throws {
    let clock = ManualClock()
    let run = try run(.serializable, clock, isUnique: isUnique)
    defer { run.end() }
    try run.observer["items"].save(["n": 2], key: "b")
    try run[0].step { try $0["items"].get("a") }
    clock.advance(by: .seconds(60))

    let codes = try run[1].step { store in
      let items = store["items"]
      #expect(try items.get("c") == nil)
      try items.save(["n": 3], key: "c")
      try items.save([Document(["n": 4], key: "d"), Document(["n": 5], key: "e")])
      try items.update("b", set: ["m": 1])
      return [
        Faults.code { _ = try items.insert(["n": 6], key: "b") },
        Faults.code { _ = try items.insert(["n": 2], key: "f") },
      ]
    }
    let expected: [StoreError.Code?] = [.duplicateKey, isUnique ? .uniqueViolation : nil]
    #expect(codes == expected)
    #expect(try run[1].commit() == nil)
    #expect(try run[0].commit() == nil)
  }

  @Test(
    "A transaction updates a document that it has read while another one waits to save it",
    arguments: [false, true], [false, true])
  func known(isUnique: Bool, hasExpired: Bool) throws {
    struct Undo: Error {}
    // Rolling back a nested block makes the transaction forget what it has read.
    for isRolledBack in [false, true] {
      let clock = ManualClock()
      let run = try run(.serializable, clock, count: 3, isUnique: isUnique)
      defer { run.end() }
      try run.observer["items"].save(["n": 2], key: "b")
      if hasExpired {
        try run[2].step { try $0["items"].get("a") }
        clock.advance(by: .seconds(60))
      }
      try run[0].step { try $0["items"].get("b") }

      let second = try run[1].start { try $0["items"].save(["n": 3], key: "b") }
      #expect(second.isBlocked)
      try run[0].step { store in
        let items = store["items"]
        if isRolledBack {
          try? store.write {
            try items.update("b", set: ["n": 4])
            throw Undo()
          }
        }
        try items.update("b", set: ["n": 5])
      }
      #expect(try run[0].commit() == nil)
      _ = try second.value()
      #expect(try run[1].commit() == nil)

      #expect(try run.observer["items"].get("b")?["n"]?.int == 3)
    }
  }

  @Test("A live query drops an expired document that is locked, which is deleted afterward")
  func live() async throws {
    let clock = ManualClock()
    let run = try run(.serializable, clock, count: 1)
    defer { run.end() }
    let observer = run.observer
    var updates = try observer["items"].find("[n] > 0").updates().makeAsyncIterator()
    #expect(try await updates.next()?.count == 1)
    try run[0].step { try $0["items"].get("a") }

    clock.advance(by: .seconds(60))

    #expect(try await updates.next()?.isEmpty == true)
    #expect(try run[0].commit() == nil)
    try await Faults.wait(for: "the deletion") {
      clock.advance(by: .seconds(1))
      return try await observer.sql("SELECT count(*) AS n FROM items").first?["n"]?.int == 0
    }
  }

  /// Calls that need the document with the key `a`, or that there is none.
  enum Use: CaseIterable, Sendable {
    case get, update, save, saveSeveral, insert, delete

    /// - Returns: Whether the document existed.
    func run(_ items: DocumentCollection) throws -> Bool {
      switch self {
      case .get: return try items.get("a") != nil
      case .update: try items.update("a", set: ["n": 2])
      case .save: try items.save(["n": 2], key: "a")
      case .saveSeveral:
        _ = try items.save([Document(["n": 2], key: "a"), Document(["n": 3], key: "b")])
      case .insert:
        return Faults.code { _ = try items.insert(["n": 2], key: "a") } == .duplicateKey
      case .delete: return try items.delete("a")
      }
      return true
    }
  }

  @Test(
    "A document whose expiration another transaction extends is not deleted as an expired one",
    arguments: Use.allCases, [false, true])
  func renewed(use: Use, isSaved: Bool) throws {
    let clock = ManualClock()
    let run = try run(.serializable, clock)
    defer { run.end() }
    let rowID = try run.observer["items"].get("a")?.rowID
    try run[0].step { store in
      if isSaved { try store["items"].save(["n": 1], key: "a") }
      try store["items"].setExpiration(Self.later, of: "a")
    }
    clock.advance(by: .seconds(60))

    let second = try run[1].start { try use.run($0["items"]) }
    #expect(second.isBlocked)
    #expect(try run[0].commit() == nil)
    #expect(try second.value())
    #expect(try run[1].commit() == nil)

    let found = try run.observer["items"].get("a")
    guard use != .delete else {
      #expect(found == nil)
      return
    }
    #expect(found?.rowID == rowID)
    #expect(found?["n"]?.int == (use == .get || use == .insert ? 1 : 2))
    #expect(try run.observer["items"].expiration(of: "a") == Self.later)
  }
}
