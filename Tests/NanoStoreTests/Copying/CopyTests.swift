// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Copying a store")
struct CopyTests {
  let source: CopySource
  var store: Store { source.store }
  init() throws { source = try CopySource() }

  @Test("A copy has the same contents and definitions")
  func everything() throws {
    for target in [try Store.file(source.scratch.file("b.db")), try anyStore()] {
      let report = try store.copy(to: target, CopyOptions(batchDocuments: 7))

      #expect(report.isEqual && !report.isContinued && report.omitted.isEmpty)
      #expect(report.copied == report.documents)
      try expectCopy(target)
      #expect(try !target.hasCopyCheckpoint())
      #expect(try target.verify().isEmpty)
      let index = try target["films"].find("number = 1000").explain().indexes
      #expect(index == ["n_unique"])
      #expect(try target["log"].indexing() == .everything)
      // Greater than the last row ID of the source and those of deleted rows after it.
      let next = try store["films"].nextRowID()
      let inserted = try target["films"].insert(["n": -1]).rowID
      #expect(try #require(inserted) >= next)
    }
  }

  @Test("A copy on a different engine is equal, and so is a copy of that copy")
  func roundTrip() throws {
    let other = try Store.reference()
    let back = try anyStore()

    try store.copy(to: other)
    try expectCopy(other)
    let report = try other.copy(to: back)

    #expect(report.isEqual)
    try expectCopy(back)
    #expect(try store.checksums() == back.checksums())
    #expect(try store.compare(with: back).isEqual)
    let next = try store["films"].nextRowID()
    #expect(try other["films"].insert(["n": -1]).rowID == next)
    let inserted = try back["films"].insert(["n": -1]).rowID
    #expect(try #require(inserted) >= next)
  }

  private func expectCopy(_ target: Store) throws {
    #expect(try target.collections() == store.collections())
    for name in try store.collections().map(\.name) {
      let expected = try store[name].fetch()
      let found = try target[name].fetch()
      #expect(found.map(\.rowID) == expected.map(\.rowID))
      #expect(found.map(\.key) == expected.map(\.key))
      #expect(found.map(\.added) == expected.map(\.added))
      #expect(try found.map { try $0.object() } == expected.map { try $0.object() })
      #expect(try target[name].indexes() == store[name].indexes())
      #expect(try target[name].fullTextIndexes() == store[name].fullTextIndexes())
    }
    let films = target["films"]
    #expect(try films.get(rowID: 3) == nil)
    #expect(try films.search("gin").count() == store["films"].search("gin").count())
    #expect(try films.find("[rating] = 5").count() == CopySource.films - 1)
    #expect(try films.find("number = 1000").keys() == ["brazil"])
    #expect(try films.queryableFields().map(\.description) == ["title"])
    #expect(code { try films.insert(["n": 1_000]) } == .uniqueViolation)
    let bag = try target.bag(named: "favourites")
    #expect(
      try bag.documents().map(\.rowID) == store.bag(named: "favourites").documents().map(\.rowID))
    #expect(
      try target.bags(containing: #require(try films.get("brazil"))).map(\.name) == ["favourites"])
    #expect(try target.metadataNames() == ["setting"])
    #expect(try target.metadata("setting")?.object?["a"]?.array?.first == 1)
  }

  @Test("Writes to the source during a copy are not included")
  func snapshot() throws {
    let target = try anyStore()
    let other = try Store.file(source.scratch.file("source.db"))

    try store.copy(to: target, CopyOptions(batchDocuments: 10)) { progress in
      if progress.phase == .documents {
        try other["films"].insert(["n": .int(-.random(in: 1 ... .max))])
      }
    }

    #expect(try target["films"].count() == CopySource.films - 1)
    #expect(try store["films"].count() > CopySource.films)
    let report = try store.compare(with: target)
    #expect(report.collections.filter { !$0.isEqual }.map(\.name) == ["films"])
  }

  @Test("Progress counts every document once, in phase order")
  func progress() throws {
    var seen: [CopyProgress] = []

    let report = try store.copy(to: try anyStore(), CopyOptions(batchDocuments: 10)) {
      seen.append($0)
    }

    let phases = seen.map { CopyProgress.Phase.allCases.firstIndex(of: $0.phase) ?? 0 }
    #expect(phases == phases.sorted() && Set(phases).count == 6)
    #expect(Set(seen.map(\.total)) == [report.documents])
    let copying = seen.filter { $0.phase != .verification }.map(\.documents)
    #expect(copying == copying.sorted() && copying.last == report.documents)
    #expect(seen.last?.documents == report.documents)
  }

  @Test("Rows written by other programs are copied with their keys and row IDs")
  func foreignRows() throws {
    try store.execute(#"INSERT INTO log(body) VALUES ('{ "line" : 7 }')"#)
    try store.execute(#"INSERT INTO log(id, key, body) VALUES (-5, 'früh', '{}')"#)
    let target = try anyStore()

    #expect(try store.copy(to: target).isEqual)

    #expect(try target["log"].get("früh")?.rowID == -5)
    let found = try #require(try target["log"].get(rowID: 6))
    #expect(found["line"] == 7 && found.added?.timeIntervalSince1970 == 0)
  }

  @Test("A canceled copy ends after its current batch, and the next one resumes")
  func canceling() async throws {
    let store = store
    let target = try Store.file(source.scratch.file("b.db"))
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await store.copy(to: target, CopyOptions(batchDocuments: 10))
    }
    await #expect(throws: CancellationError.self) { try await task.value }

    let report = try await store.copy(to: target)
    #expect(report.isContinued && report.isEqual)
    #expect(try await store.compare(with: target).isEqual)
  }
}
