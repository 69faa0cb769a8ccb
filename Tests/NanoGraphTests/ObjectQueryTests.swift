// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Pages, aggregates and search results of objects")
struct ObjectQueryTests {
  private let store: Store
  private let context: ObjectContext

  init() throws {
    store = try anyStore()
    let first = ObjectContext(store)
    for (title, seconds) in [("gin", 60), ("tonic", 120), ("gin fizz", 90), ("ice", 60)] {
      try first.insert(Song(title, seconds))
    }
    try first.save()
    context = ObjectContext(store)
  }

  @Test("Pages return each object once, as the instance of the context, without deleted objects")
  func pages() throws {
    let songs = context.find(Song.self).sorted(by: \.title)
    let gin = try #require(try context.find(\Song.title == "gin").first())

    let page = try songs.page(2)
    #expect(page.objects.map(\.title) == ["gin", "gin fizz"])
    #expect(page.objects[0] === gin)
    let ice = try #require(try context.find(\Song.title == "ice").first())
    try context.delete(ice)
    let last = try songs.after(page.next).page(2)
    #expect(last.objects.map(\.title) == ["tonic"] && last.next == nil)
    #expect(throws: StoreError.self) { try songs.page(0) }
  }

  @Test("Aggregates and groups use the stored values")
  func aggregates() throws {
    let songs = context.find(Song.self)
    let (count, average, longest) = try songs.aggregate(
      .count, .average(\.seconds), .max(\.seconds))
    #expect(count == 4 && average == 82.5 && longest == 120)
    #expect(try songs.sum(\.seconds) == 330 && songs.average(\.seconds) == 82.5)
    #expect(try songs.min(\.seconds) == 60 && songs.max(\.title) == "tonic")
    #expect(try songs.distinct(\.seconds) == [60, 90, 120])
    let groups = try songs.where(\.title != "ice").grouped(by: \.seconds, .count)
    #expect(groups.map(\.group) == [60, 90, 120] && groups.map(\.values) == [1, 1, 1])
  }

  @Test("A search returns objects with rank, snippet and highlights")
  func results() throws {
    let found = try context.search(Song.self, "gin").results()

    #expect(Set(found.map(\.object.title)) == ["gin", "gin fizz"])
    #expect(found[0].rank >= found[1].rank)
    let fizz = try #require(found.first { $0.object.seconds == 90 })
    #expect(fizz.snippet() == "[gin] fizz")
    #expect(try fizz.highlights(of: \.title, begin: "<", end: ">") == ["<gin> fizz"])
    #expect(try context.find(\Song.title == "gin fizz").first() === fizz.object)
    #expect(throws: StoreError.self) { try context.find(Song.self).results() }
  }

  @Test("The first result respects the limit, and a search omits deleted objects")
  func first() throws {
    let search = context.search(Song.self, "gin")
    let best = try #require(try search.first())
    try context.delete(best)

    let next = try #require(try search.first())

    #expect(next !== best && next.title.hasPrefix("gin"))
    #expect(try search.limit(1).first() == nil && search.limit(0).first() == nil)
    #expect(try context.find(Song.self).limit(0).first() == nil)
  }

  @Test("Documents that do not match the class are skipped and reported")
  func skipping() throws {
    try store["Song"].update(rowID: 2, set: ["title": 7])
    #expect(throws: StoreError.self) { try context.find(Song.self).fetch() }

    let (songs, skipped) = try context.find(Song.self).fetchSkippingFailures()

    #expect(songs.map(\.title) == ["gin", "gin fizz", "ice"])
    #expect(skipped.map(\.rowID) == [2])
    let error = skipped.first?.error as? StoreError
    #expect(error?.code == .typeMismatch && error?[.field] == "title")
  }

  @MainActor
  @Test("The async forms return the same results")
  func awaiting() async throws {
    let context = ObjectContext(store)
    let songs = context.find(Song.self).sorted(by: \.title)
    let page = try await songs.page(3)
    let rest = try await songs.after(page.next).page(3)
    #expect(page.objects.count == 3 && rest.objects.map(\.title) == ["tonic"])
    let (count, total) = try await songs.aggregate(.count, .sum(\.seconds))
    #expect(count == 4 && total == 330)
    let sum = try await songs.sum(\.seconds)
    let mean = try await songs.average(\.seconds)
    let least = try await songs.min(\.seconds)
    let most = try await songs.max(\.seconds)
    #expect(sum == 330 && mean == 82.5 && least == 60 && most == 120)
    let groups = try await songs.grouped(by: \.seconds, .count)
    #expect(groups.map(\.values) == [2, 1, 1])
    let distinct = try await songs.distinct(\.seconds)
    #expect(distinct == [60, 90, 120])
    let found = try await context.search(Song.self, "fizz").results()
    #expect(found.map(\.object.title) == ["gin fizz"])
    let skipping = try await songs.fetchSkippingFailures()
    #expect(skipping.values.count == 4 && skipping.skipped.isEmpty)
    let none = try await songs.limit(0).first()
    let best = try #require(try await context.search(Song.self, "gin").first())
    try context.delete(best)
    let next = try #require(try await context.search(Song.self, "gin").first())
    #expect(none == nil && next !== best && next.title.hasPrefix("gin"))
  }
}
