// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Skipping documents that do not decode")
struct SkippedDocumentTests {
  private struct Film: Codable, Equatable, Sendable { var title: String, year: Int }
  private struct Year: DocumentRepresentable, Equatable, Sendable {
    var year: Int
    init(reading reader: inout JSONReader) throws(StoreError) {
      let object = try reader.object()
      guard let year = object["year"]?.int else {
        throw StoreError(.typeMismatch, "A film has no year", [.field: "year"])
      }
      self.year = Int(year)
    }
    func write(to writer: inout JSONWriter) { writer.object(["year": .int(Int64(year))]) }
  }

  private let store: Store
  private let films: DocumentCollection

  init() throws {
    store = try anyStore()
    films = store["films"]
    try films.insert(["title": "Alien", "year": 1979], key: "alien")
    try films.insert(["title": "Brazil", "year": "1985"], key: "brazil")
    try films.insert(["title": "Ran", "year": 1985], key: "ran")
    try films.insert(["year": 2005], key: "untitled")
  }

  @Test(
    "Decodable values are returned in order, and the others are reported with key and reason")
  func codable() throws {
    let query = films.find().sorted(by: "-title")
    #expect(throws: DecodingError.self) { try query.decoded(as: Film.self) }

    try check(query.decodedSkippingFailures(as: Film.self))
  }

  @Test("Async decoding skips and reports the same documents")
  func codableWithAwait() async throws {
    let query = films.find().sorted(by: "-title")
    check(try await query.decodedSkippingFailures(as: Film.self))
  }

  private func check(_ result: (values: [Film], skipped: [SkippedDocument])) {
    #expect(result.values.map(\.title) == ["Ran", "Alien"])
    #expect(result.skipped.map(\.key) == ["brazil", "untitled"])
    #expect(result.skipped.map(\.rowID) == [2, 4])
    #expect(result.skipped.allSatisfy { $0.error is DecodingError })
  }

  @Test("Values with a custom codec are skipped with the codec's error")
  func representable() async throws {
    let (values, skipped) = try await films.find().decodedSkippingFailures(as: Year.self)

    #expect(values.map(\.year) == [1979, 1985, 2005])
    #expect(skipped.map(\.key) == ["brazil"])
    let error = try #require(skipped.first?.error as? StoreError)
    #expect(error.code == .typeMismatch && error[.field] == "year")
    #expect(error[.collection] == "films")
  }

  @Test(
    "each(as:onFailure:) reports failures one by one, and an error in a closure ends it")
  func each() throws {
    var (titles, failures): ([String], [Int64]) = ([], [])
    try films.find().each(as: Film.self, onFailure: { failures.append($0.rowID) }) {
      titles.append($0.title)
    }
    #expect(titles == ["Alien", "Ran"] && failures == [2, 4])

    struct Enough: Error {}
    #expect(throws: Enough.self) {
      try films.find().each(as: Film.self, onFailure: { _ in throw Enough() }) { _ in }
    }
    #expect(throws: Enough.self) {
      try films.find().each(as: Film.self, onFailure: { _ in }) { _ in throw Enough() }
    }
  }

  @Test("A closure in a write block does not get what it writes")
  func writingClosure() throws {
    struct Endless: Error {}
    let copies = films.find(Field("title") == "Copy")

    try store.write {
      var seen = 0
      func addCopy(_ year: Int) throws {
        seen += 1
        guard seen < 100 else { throw Endless() }
        try films.insert(["title": "Copy", "year": .int(Int64(year))])
      }
      try films.find().each(as: Film.self, onFailure: { _ in }) { try addCopy($0.year) }
      #expect(seen == 2)
      try copies.each(as: Year.self, onFailure: { _ in }) { try addCopy($0.year) }
      #expect(seen == 4)
      try copies.each(as: Film.self) { try addCopy($0.year) }
      #expect(seen == 8)
      try copies.each(as: Year.self) { try addCopy($0.year) }
      #expect(seen == 16)
    }

    #expect(try copies.count() == 16)
  }

  @Test("Bytes that are not JSON are skipped", .sqlite)
  func corrupt() throws {
    try store.execute(#"INSERT INTO films(key, body) VALUES ('x', '{"title":"X","year":')"#)

    let (values, skipped) = try films.find().decodedSkippingFailures(as: Film.self)

    #expect(values.count == 2 && skipped.map(\.key) == ["brazil", "untitled", "x"])
  }

  @Test("A failed query throws and is not reported as a skipped document")
  func queryFails() throws {
    #expect(throws: StoreError.self) {
      try films.find(Field("") == 1).decodedSkippingFailures(as: Film.self)
    }
  }
}

@Suite("Conditional replacement by revision")
struct ConditionalReplaceTests {
  private let store: Store
  private let films: DocumentCollection

  init() throws {
    store = try anyStore()
    films = store["films"]
    try films.insert(["n": 1], key: "a")
  }

  @Test("A document with the expected revision is replaced and returned with the next revision")
  func replaces() throws {
    var document = try #require(try films.get("a"))
    for n in 2...4 {
      document["n"] = .int(Int64(n))
      document = try films.replace(document, ifRevision: Int64(n - 1))
      #expect(document.revision == Int64(n))
    }
    #expect(try films.get("a")?["n"] == 4)
    #expect(try films.get("a")?.revision == 4)
  }

  @Test("A different revision throws a conflict, and the document is unchanged")
  func conflicts() throws {
    let mine = try #require(try films.get("a"))
    try films.save(["n": 7], key: "a")

    let error = #expect(throws: StoreError.self) { try films.replace(mine, ifRevision: 1) }

    #expect(error?.code == .revisionConflict)
    #expect(error?[.expected] == "1" && error?[.actual] == "2" && error?[.key] == "a")
    #expect(try films.get("a")?["n"] == 7)
    let unknown = #expect(throws: StoreError.self) { try films.replace(mine, ifRevision: nil) }
    #expect(unknown?.code == .revisionConflict && unknown?[.expected] == "unknown")
    try films.delete("a")
    for revision in [1, nil] as [Int64?] {
      let missing = #expect(throws: StoreError.self) {
        try films.replace(mine, ifRevision: revision)
      }
      #expect(missing?.code == .notFound)
    }
    #expect(try films.count() == 0)
  }

  @Test("A caught conflict leaves the transaction open")
  func insideTransaction() async throws {
    let mine = try #require(try await films.get("a"))
    try await store.write { [films] in
      try films.save(["n": 2], key: "a")
      #expect(throws: StoreError.self) { try films.replace(mine, ifRevision: 1) }
      try films.save(["n": 3], key: "b")
    }
    let count = try await films.count()
    #expect(count == 2)
    let replaced = try await films.replace(mine, ifRevision: 2)
    #expect(replaced.revision == 3)
  }

  @Test("An unconditional replacement returns no revision")
  func unconditional() throws {
    let mine = try #require(try films.get("a"))
    try films.save(["n": 2], key: "a")

    #expect(try films.replace(mine).revision == nil)
  }

  @Test(
    "A document that was read before it was deleted and inserted again does not replace the new one"
  )
  func insertedAgain() throws {
    let mine = try films.insert(["n": 1], key: "again")
    let read = try #require(try films.get("again"))
    #expect(try films.delete("again"))
    try films.insert(["n": 2], key: "again")
    let theirs = try #require(try films.get("again"))
    #expect(theirs.revision == read.revision)

    #expect(throws: StoreError.self) { try films.replace(read, ifRevision: read.revision) }
    #expect(try films.get("again")?["n"] == 2)
    // A document whose revision is unknown may have any row ID.
    #expect(try films.replace(mine, ifRevision: 1).rowID == theirs.rowID)
  }

  @Test("A replacement by key returns the row ID and insertion time of the stored document")
  func storedIdentity() throws {
    let drafts = store["drafts"]
    try drafts.insert([["n": 1], ["n": 2]])
    let draft = try drafts.insert(["n": 3], key: "a")
    let stored = try #require(try films.get("a"))
    #expect(draft.rowID != stored.rowID)

    let replaced = [
      try films.replace(draft), try films.replace(draft, ifRevision: 2),
      try films.replace(Document(["n": 4], key: "a")),
    ]

    #expect(replaced.map(\.rowID) == [stored.rowID, stored.rowID, stored.rowID])
    #expect(replaced.map(\.added) == [stored.added, stored.added, stored.added])
    #expect(replaced.map(\.hasUnsavedChanges) == [false, false, false])
    try films.delete("a")
    try films.insert(["n": 5], key: "b")
    let again = try films.insert(["n": 6], key: "a")
    #expect(try films.replace(stored).rowID == again.rowID)
    #expect(try films.replace(stored, ifRevision: 2).rowID == again.rowID)
  }
}
