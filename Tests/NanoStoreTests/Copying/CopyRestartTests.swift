// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Resuming a copy")
struct CopyRestartTests {
  let source: CopySource
  let target: Store
  var store: Store { source.store }
  init() throws {
    source = try CopySource()
    target = try Store.file(source.scratch.file("target.db"))
  }

  private func stop(after documents: Int) {
    #expect(throws: Stop.self) {
      try store.copy(to: target, CopyOptions(batchDocuments: 10)) {
        if $0.documents >= documents { throw Stop() }
      }
    }
  }

  @Test("A copy resumes after its last batch, with the same result as an uninterrupted copy")
  func resume() throws {
    stop(after: 20)
    #expect(try target.hasCopyCheckpoint())
    #expect(try target["films"].count() == 20)

    let report = try store.copy(to: target)

    #expect(report.isContinued && report.isEqual)
    #expect(report.collections.first { $0.name == "films" }?.copied == CopySource.films - 1 - 20)
    #expect(try !target.hasCopyCheckpoint())
    #expect(try store.compare(with: target).isEqual)
    #expect(try target.verify().isEmpty)
  }

  @Test("A change feed has the same positions after a copy that was resumed with later changes")
  func feed() throws {
    let store = try Store.file(source.scratch.file("feed.db"))
    let films = store["films"]
    try films.setChangeTracking(.on)
    for key in ["a", "b", "c"] { try films.save(["n": 1], key: key) }
    try films.save(["n": 2], key: "b")
    #expect(throws: Stop.self) {
      try store.copy(to: target) { if $0.phase == .metadata { throw Stop() } }
    }
    try films.save(["n": 2], key: "c")
    try films.delete("a")
    try films.insert(["n": 1], key: "d")

    try store.copy(to: target)

    func entries(_ store: Store) throws -> [String] {
      guard case .entries(let entries, _, _) = try store["films"].changes(since: nil) else {
        return []
      }
      return entries.map { "\($0.position) \($0.key ?? "") \($0.isDeleted)" }
    }
    #expect(try entries(target) == entries(store))
    #expect(try target.verify().isEmpty)
  }

  @Test("After a failure at any call of the target's engine, the next copy is complete")
  func failing() throws {
    for call in stride(from: 1, to: .max, by: 7) {
      let engine = FailingEngine(ReferenceEngine())
      let target = try Store(opening: { engine })
      engine.fail(at: call, StoreError(.full, "No space is left for the database"))
      let outcome = code { try store.copy(to: target, CopyOptions(batchDocuments: 20)) }
      let isReached = engine.calls >= call
      engine.succeed()
      guard isReached else { break }
      #expect(outcome == .full)

      let report = try store.copy(to: target)

      #expect(report.isEqual, "call \(call)")
      #expect(try !target.hasCopyCheckpoint())
    }
  }

  @Test("After a failure at any call of the source's engine, the next copy is complete")
  func failingSource() throws {
    for call in stride(from: 1, to: .max, by: 5) {
      let engine = FailingEngine(ReferenceEngine())
      let store = try Store(opening: { engine })
      try self.store.copy(to: store)
      let target = try Store.reference()
      engine.fail(at: call, StoreError(.inputOutput, "The disk cannot be read"))
      let outcome = code { try store.copy(to: target, CopyOptions(batchDocuments: 20)) }
      let isReached = engine.calls >= call
      engine.succeed()
      guard isReached else { break }
      #expect(outcome == .inputOutput)

      #expect(try store.copy(to: target).isEqual, "call \(call)")
    }
  }

  @Test("A document that does not decode is reported, and the copy resumes once it is repaired")
  func undecodable() throws {
    try store.execute("UPDATE log SET body = '{\"line\":' WHERE id = 3")

    let failure = error { try store.copy(to: target) }
    #expect(failure?.code == .corruptDocument)
    #expect(failure?[.collection] == "log" && failure?[.rowID] == "3")

    try store.execute("UPDATE log SET body = '{}' WHERE id = 3")
    let report = try store.copy(to: target)
    #expect(report.isContinued && report.isEqual)
  }

  @Test(
    "Changes, deletions, moves, and dropped indexes in the source between two attempts are copied")
  func changedSource() throws {
    stop(after: 40)
    let films = store["films"]
    try films.delete(rowID: 1)
    try films.update(rowID: 2, set: ["title": "Other"])
    // A unique value and a key move from rows that were copied to new rows.
    try films.delete(rowID: 10)
    try films.insert(["n": 9])
    let key = try #require(try films.get(rowID: 20)?.key)
    try films.delete(rowID: 20)
    try films.insert(["n": 7_000], key: key)
    try films.dropIndex("n_unique")
    try films.createIndex("title", unique: true)

    let report = try store.copy(to: target)

    #expect(report.isContinued && report.isEqual)
    #expect(try target["films"].get(key)?["n"] == 7_000)
    #expect(try target["films"].get(rowID: 20) == nil)
    #expect(try target["films"].indexes() == films.indexes())
  }

  @Test("A copy that stopped after creating indexes includes later changes")
  func changedAfterIndexes() throws {
    #expect(throws: Stop.self) {
      try store.copy(to: target) { if $0.phase == .metadata { throw Stop() } }
    }
    let films = store["films"]
    let values: [DocumentValue] = try [5, 6].map { try #require(try films.get(rowID: $0)?["n"]) }
    try films.update(rowID: 5, set: ["n": -1])
    try films.update(rowID: 6, set: ["n": values[0]])
    try films.update(rowID: 5, set: ["n": values[1]])
    try store["log"].drop()
    try store.createCollection("log", identity: .key)
    try store["log"].save(["line": "first"], key: "k")
    try store.setMetadata(nil, "setting")

    let report = try store.copy(to: target)

    #expect(report.isEqual)
    #expect(try target["log"].get("k")?["line"] == "first")
    #expect(try target.metadataNames().isEmpty)
    #expect(try target.verify().isEmpty)
  }

  @Test("An incomplete copy of a different store is rejected, and replaced only on request")
  func otherSource() throws {
    stop(after: 20)
    let other = try CopySource()
    let before = try target.checksums()

    #expect(code { try other.store.copy(to: target) } == .alreadyExists)
    #expect(try target.checksums() == before)
    #expect(code { try target.copy(to: anyStore()) } == .invalidArgument)

    let report = try other.store.copy(to: target, CopyOptions(replacing: true))
    #expect(report.isEqual && !report.isContinued)
  }

  @Test("A store without documents is not the source of an unfinished copy of another one")
  func emptySource() throws {
    stop(after: 20)
    let before = try target.checksums()
    let empty = try Store.file(source.scratch.file("empty.db"))

    #expect(code { try empty.copy(to: target) } == .alreadyExists)
    try empty.createCollection("films")
    #expect(code { try empty.copy(to: target) } == .alreadyExists)

    #expect(try target.checksums() == before)
    #expect(try store.copy(to: target).isContinued)
  }

  @Test("The copy of a store without documents resumes")
  func resumedEmptySource() throws {
    let empty = try Store.file(source.scratch.file("empty.db"))
    try empty.createCollection("films")
    #expect(throws: Stop.self) {
      try empty.copy(to: target) { if $0.phase == .metadata { throw Stop() } }
    }

    #expect(try empty.copy(to: target).isContinued)
  }

  @Test("A target that is written during the copy is detected, and repaired by the next copy")
  func damagedTarget() throws {
    let other = try Store.file(source.scratch.file("target.db"))

    let failure = error {
      try store.copy(to: target, CopyOptions(batchDocuments: 10)) { progress in
        if progress.phase == .metadata { try other["films"].update(rowID: 2, set: ["n": -7]) }
      }
    }
    #expect(failure?.code == .database)
    #expect(failure?[.collection] == "films")
    #expect(try target.hasCopyCheckpoint())

    let report = try store.copy(to: target)
    #expect(report.isContinued && report.isEqual)
    #expect(report.collections.first { $0.name == "films" }?.copied == CopySource.films - 1)
  }

  @Test("A repeated call recognizes a complete copy, but not one that was changed")
  func repeated() throws {
    try store.copy(to: target)
    let before = try target.checksums()

    // As after a process that was killed before it could report success.
    for options in [CopyOptions(), CopyOptions(skippingUnsupported: true)] {
      let report = try store.copy(to: target, options)
      #expect(report.isEqual && report.isContinued && report.copied == 0)
      #expect(report.documents == before.values.reduce(0) { $0 + $1.documents })
    }
    #expect(try target.checksums() == before)
    #expect(try !target.hasCopyCheckpoint())

    // The same number of documents, one of them different.
    try target["films"].update(rowID: 2, set: ["n": -7])
    let changed = try target.checksums()
    #expect(code { try store.copy(to: target) } == .alreadyExists)
    #expect(try target.checksums() == changed)
    try target["films"].update(rowID: 2, set: ["n": 1])
    #expect(try store.copy(to: target).copied == 0)
    try target.setMetadata(2, "mine")
    #expect(code { try store.copy(to: target) } == .alreadyExists)
    try target.setMetadata(nil, "mine")
    try target["films"].dropIndex("n_unique")
    #expect(code { try store.copy(to: target) } == .alreadyExists)
  }

  @Test("A complete copy that skipped unsupported definitions is recognized")
  func repeatedWithoutIndexes() throws {
    let target = try Store.reference()
    let options = CopyOptions(skippingUnsupported: true)
    let tracked = try #require(try store.collections().first?.name)
    try store[tracked].setChangeTracking(.on)
    let first = try store.copy(to: target, options)
    #expect(
      first.omitted.contains { $0.collection == tracked && $0.definition == "change tracking" })

    let second = try store.copy(to: target, options)

    #expect(second.hasEqualDocuments && second.isContinued && second.copied == 0)
    #expect(second.omitted == first.omitted)
  }

  @Test(
    "After a failure at any call of the target, a repeated copy completes and is then recognized")
  func failingTwice() throws {
    for call in stride(from: 1, to: .max, by: 11) {
      let engine = FailingEngine(ReferenceEngine())
      let target = try Store(opening: { engine })
      engine.fail(at: call, StoreError(.full, "No space is left for the database"))
      _ = code { try store.copy(to: target, CopyOptions(batchDocuments: 20)) }
      let isReached = engine.calls >= call
      engine.succeed()
      #expect(try store.copy(to: target).isEqual, "call \(call)")
      let report = try store.copy(to: target)
      #expect(report.isEqual && report.copied == 0, "call \(call)")
      guard isReached else { break }
    }
  }
}
