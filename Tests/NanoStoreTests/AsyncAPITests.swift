// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Synchronization
import Testing

/// Behavior of async APIs beyond what the tests of the synchronous APIs cover.
@Suite("Async APIs and store.blocking")
struct AsyncAPITests {
  private final class Draft: Codable {
    var title: String
    init(_ title: String) { self.title = title }
  }

  private func thread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

  @Test("blocking(_:) runs its block on the calling thread and returns or rethrows its outcome")
  func blocking() async throws {
    struct Failure: Error {}
    let store = try anyStore()
    let notes = store["notes"]
    try await notes.insert(["title": "A"], key: "a")

    let here = thread()
    let (count, there) = try store.blocking { (try notes.count(), thread()) }

    #expect(count == 1)
    #expect(there == here)
    #expect(throws: Failure.self) { try store.blocking { throw Failure() } }
  }

  @Test("blocking(_:) does not start a transaction")
  func noTransaction() async throws {
    struct Failure: Error {}
    let store = try anyStore()
    let notes = store["notes"]

    #expect(throws: Failure.self) {
      try store.blocking {
        try notes.insert(["title": "A"])
        throw Failure()
      }
    }

    #expect(try await notes.count() == 1)
  }

  @Test("Async calls write and read values that are not Sendable")
  func classes() async throws {
    let notes = try anyStore()["notes"]
    try await notes.save(Draft("A"), key: "a")
    try await notes.insert([Draft("B"), Draft("C")])
    try await notes.insert(repeatElement(["title": "D"] as DocumentObject, count: 2))

    let drafts: [Draft] = try await notes.find().decoded()
    let titles = Mutex<[String]>([])
    try await notes.find().each(as: Draft.self) { draft in
      titles.withLock { $0.append(draft.title) }
    }

    #expect(drafts.map(\.title) == ["A", "B", "C", "D", "D"])
    #expect(titles.withLock(\.self) == ["A", "B", "C", "D", "D"])
    let first = try await notes.get("a", as: Draft.self)
    #expect(first?.title == "A")
  }

  @Test("An error thrown in an async each(as:) closure ends the query")
  func closureThrows() async throws {
    struct Enough: Error {}
    let notes = try anyStore()["notes"]
    try await notes.insert([Draft("A"), Draft("B")])

    await #expect(throws: Enough.self) {
      try await notes.find().each(as: Draft.self) { _ in throw Enough() }
    }
  }

  @Test("Async SQL calls take the same arguments as synchronous ones, an array as its JSON text")
  func sql() async throws {
    let store = try Store(.memory)
    let notes = store["notes"]
    try await notes.insert(["n": 1])
    try await notes.insert(["n": 2])

    let rows = try await store.sql("SELECT ? AS a, ? AS b", 5, "text")
    let found = try await notes.documents(
      sql: "SELECT id FROM notes WHERE json_extract(body, '$.n') > ?", 1)
    let elements = try await store.sql("SELECT value FROM json_each(?)", [3, 4])
    let changed = try await store.execute("CREATE TABLE mine AS SELECT ? AS a", 7)

    #expect(rows.map(\.values) == [[5, "text"]])
    #expect(elements.map(\.values) == [[3], [4]])
    #expect(found.map { $0["n"] } == [2])
    #expect(changed >= 0)
  }
}
