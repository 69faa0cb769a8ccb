// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import Testing

/// Filters of a synchronization with a store of the same process.
@Suite(.timeLimit(.minutes(15))) struct FilterTests {
  private func push(_ from: Store, _ to: Store, _ filter: Condition) async throws {
    var options = SyncOptions()
    options.pushFilter = filter
    try await from.replicate(
      ["films"], with: .store(to), direction: .push, mode: .once, options: options
    ).finish()
  }

  @Test func `A filter with other data or another date looks at everything again`() async throws {
    let (a, b) = (try anyStore(), try anyStore())
    let (one, two) = (Data(repeating: 1, count: 16), Data(repeating: 2, count: 16))
    let start = Date(timeIntervalSince1970: 1_000)
    let later = Date(timeIntervalSince1970: 1_000.25)
    let owners: [(String, Data, Date)] = [("1", one, start), ("2", two, later)]
    for (key, owner, date) in owners {
      try await a["films"].save(["owner": .data(owner), "at": .date(date)], key: key)
    }

    try await push(a, b, Field("owner") == one)
    #expect(try await b["films"].find().keys() == ["1"])
    try await push(a, b, Field("owner") == two)
    #expect(try await b["films"].find().keys().sorted() == ["1", "2"])

    let c = try anyStore()
    try await push(a, c, Field("at") == start)
    try await push(a, c, Field("at") == later)
    #expect(try await c["films"].find().keys().sorted() == ["1", "2"])
  }

  @Test func `A filter sees the defaults of the collection and the attachments`() async throws {
    let (a, b) = (try anyStore(), try anyStore())
    for key in ["1", "2"] { try await a["films"].save(["n": 1], key: key) }
    try await a["films"].attach(.data(Data("x".utf8)), named: "poster", to: "2")
    try await push(a, b, Field("draft") == false)
    #expect(try await b["films"].count() == 0)

    try await push(a, b, .exists("_attachments.poster"))
    #expect(try await b["films"].find().keys() == ["2"])

    try await a["films"].setDefaults(["draft": false])
    try await push(a, b, Field("draft") == false)
    #expect(try await b["films"].count() == 2)
  }

  @Test func `A filter on the class of documents pushes those of the class`() async throws {
    let (a, b) = (try anyStore(), try anyStore())
    let exported = #"{"n":1,"$nanostore":{"type":"Film","version":2}}"#
    let films = try SyncDatabase(a["films"])
    try films.enable()
    let wire = try WireDocument(
      SyncJSON.object(
        Array(#"{"_id":"typed","_rev":"1-\#(hash("a"))",\#(exported.dropFirst())"#.utf8)))
    #expect(try films.replicate([wire.document(attachments: [])]).isEmpty)
    try await a["films"].save(["n": 1], key: "plain")

    try await push(a, b, .type("Film"))

    #expect(try await b["films"].find().keys() == ["typed"])
  }

  @Test func `A filter that needs more than one document is rejected at once`() throws {
    let (a, b) = (try anyStore(), try anyStore())
    let filters: [Condition] = [
      Related("directorID", in: "people").has(Field("country") == "UK"),
      .added(before: Date()), .rowID(in: [1]), .search("gin"),
      .all([.constant(false), .search("gin")]),
      .text(.field("title"), .regexp, .value("(")),
      .not(.text(.field("title"), .regexp, .value("("))),
      .truth(.truth(.text(.field("title"), .regexp, .value("(")))),
      .truth(
        .choice(
          [.init(when: .text(.field("title"), .regexp, .value("(")), then: .value(true))],
          otherwise: .value(false))),
      .isNull(
        .elements(
          .field("titles"), where: .text(.field("title"), .regexp, .value("(")),
          select: .field("title"))),
    ]
    for filter in filters {
      var options = SyncOptions()
      options.pushFilter = filter
      let error = #expect(throws: StoreError.self) {
        try a.replicate(["films"], with: .store(b), mode: .once, options: options)
      }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func `A filter that fails on one document pushes the others`() async throws {
    let (a, b) = (try anyStore(), try anyStore())
    try await a["films"].save(["title": "Alien", "pattern": "("], key: "1")
    try await a["films"].save(["title": "Alien", "pattern": "A.*"], key: "2")
    var options = SyncOptions()
    options.pushFilter = .text(.field("title"), .regexp, .field("pattern"))

    let status = try await a.replicate(
      ["films"], with: .store(b), direction: .push, mode: .once, options: options
    ).finish()

    #expect(status.failures.map(\.key) == ["1"])
    #expect(try await b["films"].find().keys() == ["2"])
  }

  @Test func `The largest number of changes in a batch is one batch`() async throws {
    let (a, b) = (try anyStore(), try anyStore())
    for key in ["1", "2"] { try await a["films"].save(["n": 1], key: key) }
    var options = SyncOptions()
    options.batchDocuments = .max
    options.requests = .max
    let status = try await a.replicate(
      ["films"], with: .store(b), mode: .once, options: options
    ).finish()
    #expect(status.pushed == 2)
  }

  @Test func `Updates end when the handle is released`() async throws {
    let (a, b) = (try anyStore(), try anyStore())
    var sync: Sync? = try a.replicate(["films"], with: .store(b))
    let updates = try #require(sync?.updates)
    for await status in updates where status.phase == .idle { break }
    let rest = try #require(sync?.updates)
    sync = nil
    for await _ in rest {}
  }
}
