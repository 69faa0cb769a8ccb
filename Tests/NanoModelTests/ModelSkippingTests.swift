// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Synchronization
import Testing

@Model(version: 2) private struct Film: Equatable {
  @Key var id: String
  var title: String
  var year: Int
  static let upgrades = [
    ModelUpgrade(from: 1) { fields in
      struct Refused: Error {}
      if fields["title"] == "Caché" { throw Refused() }
    }
  ]
}

@Suite("Skipping model documents that do not decode")
struct ModelSkippingTests {
  private let store: Store
  private let films: ModelCollection<Film>

  init() throws {
    store = try anyStore()
    films = store[Film.self]
    for (id, title, year) in [("a", "Alien", 1979), ("c", "Caché", 2005), ("r", "Ran", 1985)] {
      try films.insert(Film(id: id, title: title, year: year))
    }
    try store["Film"].insert(["title": "Brazil", "year": "1985"], key: "b")
    // A document without a version has version 1.
    try store["Film"].save(["title": "Caché", "year": 2005], key: "c")
  }

  @Test(
    "Values are returned in order, and the other documents are reported with key, field and reason")
  func values() throws {
    #expect(throws: StoreError.self) { try films.fetch() }

    check(try films.find().sorted(by: \.title).fetchSkippingFailures())
  }

  @Test("The async form returns the same result")
  func valuesWithAwait() async throws {
    check(try await films.find().sorted(by: \.title).fetchSkippingFailures())
  }

  private func check(_ result: (values: [Film], skipped: [SkippedDocument])) {
    #expect(result.values.map(\.title) == ["Alien", "Ran"])
    #expect(result.skipped.map(\.key) == ["b", "c"])
    let errors = result.skipped.compactMap { $0.error as? StoreError }
    #expect(errors.map(\.code) == [.typeMismatch, .typeMismatch])
    #expect(errors.first?[.field] == "year" && errors.first?[.collection] == "Film")
  }

  @Test("Streams skip and report documents one at a time")
  func stream() async throws {
    let skipped = Mutex<[String?]>([])
    var titles: [String] = []
    for try await film in films.find().stream(onFailure: { document in
      skipped.withLock { $0.append(document.key) }
    }) {
      titles.append(film.title)
    }
    #expect(titles == ["Alien", "Ran"])
    #expect(skipped.withLock { $0 } == ["c", "b"])
    await #expect(throws: StoreError.self) { for try await _ in films.find().stream() {} }
  }

  @Test("A closure receives skipped documents, also inside a write transaction")
  func each() throws {
    var (titles, keys): ([String], [String?]) = ([], [])
    try films.find().each(onFailure: { keys.append($0.key) }) { titles.append($0.title) }
    #expect(titles == ["Alien", "Ran"] && keys == ["c", "b"])

    try store.write {
      try films.find().each(onFailure: { _ in }) { film in
        try films.insert(Film(id: film.id + "2", title: film.title, year: 1))
      }
    }
    #expect(try films.count() == 6)
  }
}

@Model private struct Account: Equatable {
  @Key var id: String
  var balance: Int
}

@Model private struct Note: Equatable {
  var text: String
}

@Suite("Conditional saves by revision")
struct ConditionalSaveTests {
  private let store: Store
  private let accounts: ModelCollection<Account>

  init() throws {
    store = try anyStore()
    accounts = store[Account.self]
  }

  @Test(
    "An inserted, saved or read value can be saved repeatedly with its current revision")
  func chain() throws {
    var stored = try accounts.insert(Account(id: "a", balance: 1))
    #expect(stored.revision == 1)
    for balance in 2...4 {
      stored.balance = balance
      stored = try accounts.save(stored, ifRevision: stored.revision)
      #expect(stored.revision == Int64(balance))
    }
    #expect(try accounts.get("a")?.balance == 4)
    // An unconditional save does not determine the replaced revision.
    #expect(try accounts.save(stored).revision == nil)
  }

  @Test("A value with its key can be saved conditionally, also with await")
  func value() async throws {
    let read = try await accounts.insert(Account(id: "a", balance: 1))
    let saved = try await accounts.save(
      Account(id: "a", balance: 5), ifRevision: read.revision)
    #expect(saved.revision == 2 && saved.rowID == read.rowID && saved.key == "a")
    let last = try await accounts.save(saved, ifRevision: saved.revision)
    #expect(last.revision == 3)
  }

  @Test("A conditional save after a concurrent write stores nothing and reports both revisions")
  func conflict() throws {
    var mine = try accounts.insert(Account(id: "a", balance: 1))
    try accounts.update("a", .set(\.balance, 10))
    mine.balance = 2

    for save in [
      { try accounts.save(mine, ifRevision: mine.revision) },
      { try accounts.save(mine.value, ifRevision: mine.revision) },
    ] {
      let error = #expect(throws: StoreError.self) { _ = try save() }
      #expect(error?.code == .revisionConflict)
      #expect(error?[.expected] == "1" && error?[.actual] == "2")
    }
    #expect(try accounts.get("a")?.balance == 10)
  }

  @Test("A deleted document is not inserted again, and a nil revision never matches")
  func missing() throws {
    let mine = try accounts.insert(Account(id: "a", balance: 1))
    let unknown = #expect(throws: StoreError.self) {
      try accounts.save(mine, ifRevision: nil)
    }
    #expect(unknown?.code == .revisionConflict)
    try accounts.delete("a")

    let error = #expect(throws: StoreError.self) {
      try accounts.save(mine, ifRevision: mine.revision)
    }

    #expect(error?.code == .notFound)
    #expect(try accounts.count() == 0)
  }

  @Test(
    "A value with only a row ID is saved through its stored value, and a changed key is rejected")
  func identities() throws {
    try store.createCollection("Note", identity: .rowID)
    let notes = store[Note.self]
    var note = try notes.insert(Note(text: "one"))
    note.text = "two"
    note = try notes.save(note, ifRevision: note.revision)
    #expect(try notes.fetch() == [Note(text: "two")])
    #expect(note.revision == 2 && note.rowID == 1)
    let noKey = #expect(throws: StoreError.self) {
      try notes.save(Note(text: "three"), ifRevision: 2)
    }
    #expect(noKey?.code == .invalidArgument)

    var account = try accounts.insert(Account(id: "a", balance: 1))
    account.id = "b"
    let otherKey = #expect(throws: StoreError.self) {
      try accounts.save(account, ifRevision: account.revision)
    }
    #expect(otherKey?.code == .invalidArgument)
  }

  @Test("No increments of concurrent tasks are lost")
  func counting() async throws {
    try await accounts.insert(Account(id: "a", balance: 0))
    try await withThrowingTaskGroup { group in
      for _ in 1...4 {
        group.addTask { [accounts] in
          for _ in 1...5 { try await Self.increment(accounts) }
        }
      }
      try await group.waitForAll()
    }
    let account = try await accounts.get("a")
    #expect(account?.balance == 20)
  }

  private static func increment(_ accounts: ModelCollection<Account>) async throws {
    while true {
      var account = try #require(try await accounts.getStored("a"))
      account.balance += 1
      do {
        try await accounts.save(account, ifRevision: account.revision)
        return
      } catch let error as StoreError where error.code == .revisionConflict {}
    }
  }
}

@Suite("Models and unknown fields")
struct ModelUnknownFieldTests {
  @Test("explain lists a property that no document has, with the most similar field")
  func explain() throws {
    let notes = try anyStore()[Note.self]
    try notes.insert(Note(text: "one"))

    #expect(try notes.find(\.text == "one").explain().unknownFields == [])
    let explanation = try notes.find(Field("txt") == "one").explain()
    #expect(explanation.unknownFields == [UnknownField(path: "txt", nearest: "text")])
  }
}
