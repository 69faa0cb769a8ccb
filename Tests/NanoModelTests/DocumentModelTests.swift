// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

/// Values of models in calls of `DocumentCollection`, which do the same as those of `ModelCollection`.
@Suite("Models in collections of documents")
struct DocumentModelTests {
  @Model(collection: "films", version: 2) struct Film: Codable, Equatable {
    @Key var id: String
    var title: String
    var year: Int
    static var upgrades: [ModelUpgrade] {
      [ModelUpgrade(from: 1) { fields in fields["year"] = fields["y"] }]
    }
  }
  @Model struct Note: Equatable { var text: String }

  private let store: Store
  private let documents: DocumentCollection
  private let ran = Film(id: "ran", title: "Ran", year: 1985)

  init() throws {
    store = try Store(.memory)
    documents = store["films"]
  }

  @Test("A value is stored under its key and with its version, as by its own collection")
  func stored() throws {
    let inserted = try documents.insert(ran)
    #expect(inserted.key == "ran" && inserted["id"] == nil && inserted.version == 2)
    #expect(try store[Film.self].get("ran") == ran)

    var later = ran
    later.year = 1986
    #expect(try documents.save(later).key == "ran")
    #expect(try documents.get("ran", as: Film.self) == later)
    #expect(try documents.get("alien", as: Film.self) == nil)
    #expect(try documents.count() == 1)

    let alien = Film(id: "alien", title: "Alien", year: 1979)
    try documents.insert([alien])
    #expect(try store[Film.self].find().keys().sorted() == ["alien", "ran"])
  }

  @Test("Documents are decoded with their key, and older versions are upgraded")
  func decoded() throws {
    try documents.insert(ran)
    try documents.insert(["title": "Alien", "y": 1979], key: "alien")
    let alien = Film(id: "alien", title: "Alien", year: 1979)
    let query = documents.find().sorted(by: "title")

    #expect(try documents.get("alien", as: Film.self) == alien)
    #expect(try documents.get("alien")?.decoded(as: Film.self) == alien)
    #expect(try query.decoded(as: Film.self) == [alien, ran])
    var seen: [Film] = []
    try query.each(as: Film.self) { seen.append($0) }
    #expect(seen == [alien, ran])

    try documents.insert(["title": "Dune"], key: "dune")
    let error = #expect(throws: StoreError.self) { try query.decoded(as: Film.self) }
    #expect(error?.code == .typeMismatch && error?[.field] == "year" && error?[.key] == "dune")
    let (values, skipped) = try query.decodedSkippingFailures(as: Film.self)
    #expect(values == [alien, ran] && skipped.map(\.key) == ["dune"])
  }

  @Test("A closure in a write block does not get what it writes")
  func writingClosure() throws {
    struct Endless: Error {}
    try documents.insert(ran)

    try store.write {
      var seen = 0
      func addCopy(of film: Film) throws {
        seen += 1
        guard seen < 100 else { throw Endless() }
        try documents.insert(Film(id: "\(seen)", title: film.title, year: film.year))
      }
      try documents.find().each(as: Film.self) { try addCopy(of: $0) }
      #expect(seen == 1)
      try documents.find().each(as: Film.self, onFailure: { _ in }) { try addCopy(of: $0) }
      #expect(seen == 3)
    }

    #expect(try documents.count() == 4)
  }

  @Test("The calls with await do the same")
  func asynchronous() async throws {
    try await documents.insert(ran)
    try await documents.save(ran)
    try await documents.insert([Film(id: "alien", title: "Alien", year: 1979)])
    #expect(try await documents.get("ran", as: Film.self) == ran)
    let query = documents.find().sorted(by: "title")
    #expect(try await query.decoded(as: Film.self).map(\.id) == ["alien", "ran"])
    #expect(try await query.decodedSkippingFailures(as: Film.self).values.count == 2)
    for try await films in query.updates(as: Film.self) {
      #expect(films.map(\.id) == ["alien", "ran"])
      break
    }
  }

  @Test("A value is not saved under a key other than its own, nor without any")
  func keys() throws {
    let other = #expect(throws: StoreError.self) { try documents.save(ran, key: "other") }
    #expect(other?.code == .invalidArgument)
    let notes = store["notes"]
    let without = #expect(throws: StoreError.self) { try notes.save(Note(text: "a")) }
    #expect(without?.code == .invalidKey)
    #expect(try documents.count() == 0 && notes.count() == 0)

    try notes.save(Note(text: "a"), key: "n")
    try notes.save(Note(text: "b"), key: "n")
    #expect(try notes.get("n", as: Note.self) == Note(text: "b"))
    #expect(try notes.insert(Note(text: "c")).key != nil)
  }

  @Test("A live query on a property that is not stored throws when its loop begins")
  func liveQueryThatCannotRun() async throws {
    let updates = store[Film.self].find(\.title.count > 3).updates()
    let error = await #expect(throws: StoreError.self) {
      for try await _ in updates { Issue.record("a result") }
    }
    #expect(error?.code == .invalidArgument)
    let counts = store[Film.self].find(\.title.count > 3).countUpdates()
    let other = await #expect(throws: StoreError.self) {
      for try await _ in counts { Issue.record("a count") }
    }
    #expect(other?.code == .invalidArgument)
  }
}
