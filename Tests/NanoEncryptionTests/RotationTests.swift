// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoTestSupport
import Synchronization
import Testing

@testable import NanoEncryption

@Suite("Key changes and key rotation")
struct RotationTests {
  let file: SealedFile

  init() throws {
    file = try SealedFile()
    let store = try file.open(.test(indexes: .blindOn(["accounts": ["mail"]])))
    try store["people"].insert((0..<1_000).map { ["n": .int($0)] })
    try store["accounts"].createIndex("mail", unique: true)
    try store["accounts"].insert((0..<300).map { ["mail": .string("a\($0)@b")] })
    try store["people"].setDefaults(["active": true])
    try store.setMetadata(["x": 1], "entry")
    let bag = try store.bag(named: "favorites")
    try bag.add(try #require(store["people"].fetch().first))
    try bag.save()
    try store.close()
  }

  private func open(_ passphrase: String = "correct horse") throws -> Store {
    try file.open(.test(passphrase, indexes: .blindOn(["accounts": ["mail"]])))
  }

  private func expectAll(in store: Store, others: Int = 0, line: Int = #line) throws {
    let place = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
    #expect(try store["people"].find(Field("n") >= 0).count() == 1_000, sourceLocation: place)
    #expect(
      try store["people"].find(Field("active") == true).count() == 1_000 + others,
      sourceLocation: place)
    let found = store["accounts"].find(Field("mail") == "a7@b")
    #expect(try found.count() == 1, sourceLocation: place)
    #expect(try found.explain().indexes == ["mail_unique"], sourceLocation: place)
    #expect(
      code { try store["accounts"].insert(["mail": "a9@b"]) } == .uniqueViolation,
      sourceLocation: place)
    #expect(try store.metadata("entry") == ["x": 1], sourceLocation: place)
    #expect(try store.bag(named: "favorites").documents().count == 1, sourceLocation: place)
    #expect(
      try store["people"].observedPaths().map(\.path) == ["n"], sourceLocation: place)
    #expect(try store.verify() == [], sourceLocation: place)
  }

  private func keys() throws -> String {
    try file.sql("SELECT value ->> '$.keys' AS k FROM nano_metadata WHERE name = 'nano_encryption'")
      .first?["k"]?.string ?? ""
  }

  private func bodies() throws -> Set<String> {
    Set(
      try file.sql("SELECT body FROM people UNION ALL SELECT body FROM accounts")
        .compactMap { $0["body"]?.string })
  }

  @Test(
    "A new passphrase replaces the old one immediately, without rewriting documents")
  func changeKey() throws {
    let before = try bodies()
    let store = try open()
    try store.changeKey(to: .passphrase("another horse"), cost: .small)
    try expectAll(in: store)
    // The store keeps its key for reopening.
    try store.close()
    try store.reopen()
    try expectAll(in: store)
    try store.close()
    #expect(try bodies() == before)
    #expect(code { _ = try open() } == .wrongKey)
    let again = try open("another horse")
    try expectAll(in: again)
    try again.changeKey(to: .key((0..<32).map { UInt8($0) }))
    try again.close()
    #expect(code { _ = try open("another horse") } == .wrongKey)
    try expectAll(in: try file.open(Encryption(.key((0..<32).map { UInt8($0) }), indexes: .blind)))
  }

  @Test("An invalid new key leaves the old one in place")
  func invalidKey() throws {
    let store = try open()
    #expect(code { try store.changeKey(to: .passphrase("")) } == .invalidArgument)
    #expect(code { try store.changeKey(to: .key([1])) } == .invalidArgument)
    let cost = ScryptCost(rounds: 3)
    #expect(code { try store.changeKey(to: .passphrase("x"), cost: cost) } == .invalidArgument)
    try store.close()
    try expectAll(in: try open())
  }

  @Test(
    "Scrypt costs that only some machines can compute are rejected for new keys, but not in files")
  func costOfSomeMachines() throws {
    let store = try open()
    for (rounds, blockSize, parallelism) in [(16, 17, 1), (16, 1_024, 1), (2, 33, 2)] {
      let cost = ScryptCost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
      #expect(code { try store.changeKey(to: .passphrase("x"), cost: cost) } == .invalidArgument)
      #expect(code { try cost.validate() } == nil)
    }
    for (rounds, blockSize, parallelism) in [(16, 16, 1), (16, 17, 2), (2, 32, 2)] {
      let cost = ScryptCost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
      try store.changeKey(to: .passphrase("x"), cost: cost)
    }
    try store.close()
    try expectAll(in: try open("x"))
  }

  @Test("A rotation seals everything with a new key and removes the old one")
  func rotate() throws {
    let before = try bodies()
    let names = try file.sql("SELECT name FROM nano_metadata").count
    let store = try open()
    var progress: [Double] = []
    try store.rotateKeys { progress.append($0) }
    #expect(progress == progress.sorted() && progress.last == 1 && progress.count > 5)
    try expectAll(in: store)
    try store.close()

    #expect(try bodies().isDisjoint(with: before))
    #expect(try bodies().allSatisfy { SealedFile.keyNumber($0) == 2 })
    #expect(try keys().components(separatedBy: "number").count == 2)
    #expect(try file.sql("SELECT name FROM nano_metadata").count == names)
    try expectAll(in: try open())
  }

  @Test("An interrupted rotation resumes", arguments: [1, 3, 6])
  func resume(steps: Int) throws {
    struct Stop: Error {}
    let store = try open()
    var count = 0
    #expect(throws: Stop.self) {
      try store.rotateKeys { _ in
        count += 1
        if count == steps { throw Stop() }
      }
    }
    try expectAll(in: store)
    try store["people"].save(["n": -1], key: "meanwhile")
    try store.close()
    #expect(try keys().components(separatedBy: "number").count == 3)

    let again = try open()
    try expectAll(in: again, others: 1)
    try again.rotateKeys()
    try expectAll(in: again, others: 1)
    #expect(try again["people"].delete("meanwhile"))
    try again.close()
    #expect(try keys().components(separatedBy: "number").count == 2)
    #expect(try bodies().allSatisfy { SealedFile.keyNumber($0) == 2 })
  }

  @Test("Other connections read and write during and after a rotation")
  func concurrentAccess() throws {
    let store = try open()
    let other = try open()
    try expectAll(in: other)
    let failures = Mutex<[String]>([])
    var number: Int64 = 0
    try store.rotateKeys { _ in
      number += 1
      do {
        try other["others"].insert(["n": .int(number)])
        guard try other["people"].find(Field("n") == 500).count() == 1 else {
          throw StoreError(.notFound, "A document is not there")
        }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    #expect(failures.withLock { $0 } == [])
    try expectAll(in: other)
    #expect(try store["others"].find(Field("n") > 0).count() == Int(number))
    #expect(try other["others"].find(Field("n") > 0).count() == Int(number))
    #expect(try store.verify() == [])
  }

  @Test("A store opened before a key change can still read, but must be reopened to write")
  func changedMeanwhile() throws {
    let store = try open()
    let other = try open()
    try store.changeKey(to: .passphrase("another horse"), cost: .small)
    #expect(try other["people"].find(Field("n") == 7).count() == 1)
    #expect(code { try other["people"].insert(["n": 1]) } == .wrongKey)
    try expectAll(in: store)
    try other.close()
    #expect(code { try other.reopen() } == .wrongKey)
  }

  @Test("A damaged document stops a rotation, which succeeds after the document is deleted")
  func damaged() throws {
    try file.setBody(700, try file.body(701))
    let store = try open()
    let found = error { try store.rotateKeys() }
    #expect(found?.code == .corruptDocument && found?[.rowID] == "700")
    #expect(try store["people"].get(rowID: 701)?["n"] == 700)
    try store["people"].delete(rowID: 700)
    try store.rotateKeys()
    #expect(try store["people"].find(Field("n") >= 0).count() == 999)
    #expect(try store.verify() == [])
  }

  @Test("A connection that only reads finds everything after another one has rotated the keys")
  func readerAfterRotation() throws {
    let (store, other) = (try open(), try open())
    #expect(try other.metadata("entry") == ["x": 1])

    try store.rotateKeys()

    #expect(try other.metadata("entry") == ["x": 1])
    #expect(try other.metadataNames() == ["entry"])
    #expect(try other["accounts"].indexes().map(\.name) == ["mail_unique"])
    #expect(try other["people"].observedPaths().map(\.path) == ["n"])
    #expect(try other["people"].find(Field("active") == true).count() == 1_000)
    #expect(try other.verify() == [])
  }

  @Test("A connection without the current key reads until another one rotates the keys")
  func readerWithoutKey() throws {
    let (store, other) = (try open(), try open())
    try store.changeKey(to: .passphrase("another horse"), cost: .small)
    #expect(try other.metadata("entry") == ["x": 1])
    #expect(try other["people"].get(rowID: 7)?["n"] == 6)

    try store.rotateKeys()

    #expect(code { _ = try other.metadata("entry") } == .wrongKey)
    #expect(code { _ = try other["people"].find(Field("n") == 7).count() } == .wrongKey)
    #expect(code { _ = try other["people"].get(rowID: 7) } == .wrongKey)
    try expectAll(in: store)
  }

  @Test("Documents are written after the last blind index is dropped and the keys are rotated")
  func droppedIndex() throws {
    let store = try open()
    try store["accounts"].dropIndex("mail_unique")
    try store.rotateKeys()

    try store["accounts"].insert(["mail": "a9@b"])

    #expect(try store["accounts"].find(Field("mail") == "a9@b").count() == 2)
    #expect(try store.verify() == [])
  }

  @Test("A key change never lowers the cost, unless a lower one is passed")
  func cost() throws {
    func rounds() throws -> DocumentValue? {
      let sql = "SELECT value ->> '$.key.n' AS n FROM nano_metadata WHERE name = 'nano_encryption'"
      return try file.sql(sql).first?["n"]
    }
    let store = try open()

    try store.changeKey(to: .passphrase("x"))
    #expect(try rounds() == 16)
    let cost = ScryptCost(rounds: 32, blockSize: 1, parallelism: 1)
    try store.changeKey(to: .passphrase("y"), cost: cost)
    #expect(try rounds() == 32)
    try store.changeKey(to: .passphrase("z"))
    #expect(try rounds() == 32)

    try store.close()
    let reopened = try open("z")
    try expectAll(in: reopened)
    // The cost of the encryption that reopened the store is lower.
    try reopened.changeKey(to: .passphrase("a"))
    #expect(try rounds() == 32)
  }
}
