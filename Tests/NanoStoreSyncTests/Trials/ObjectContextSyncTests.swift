// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreModels
import NanoStoreSync
import NanoTestSupport
import Testing

@Model final class SyncedFilm {
  @Key var id: String
  var name: String
  var title: String
  var plays: Int

  init(_ id: String, _ title: String, plays: Int = 0) {
    self.id = id
    name = id
    self.title = title
    self.plays = plays
  }
}

@Model final class SyncedNote {
  var text: String

  init(_ text: String) { self.text = text }
}

@Suite @MainActor struct ObjectContextSyncTests {
  private let store: Store
  private let other: Store
  private let context: ObjectContext

  init() throws {
    store = try anyStore()
    other = try anyStore()
    context = ObjectContext(store)
  }

  /// Saves as code that does not suspend.
  private func save() throws { try context.save() }

  private func sync(_ names: [String] = ["SyncedFilm"]) async throws {
    let status = try await store.replicate(names, with: .store(other), mode: .once).finish()
    #expect(status.failures.isEmpty)
  }

  private func wait(until condition: () throws -> Bool) async throws {
    for _ in 0..<40_000 {
      if try condition() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("The condition did not become true")
  }

  private var theirs: DocumentCollection { other["SyncedFilm"] }

  @Test func `Objects without changes are refreshed by pulled changes`() async throws {
    let film = try context.insert(SyncedFilm("a", "Alien"))
    try save()
    try await sync()
    try await theirs.update("a", set: ["title": "ALIEN"])
    try await theirs.save(["id": "b", "name": "b", "title": "Brazil", "plays": 0], key: "b")
    try await sync()
    try await wait { film.title == "ALIEN" }
    #expect(!film.hasChanges)
    #expect(try await context.find(SyncedFilm.self).count() == 2)
    try await theirs.delete("a")
    try await sync()
    try await wait { film.isDeleted }
  }

  @Test func `Objects with changes meet pulled changes by the context's conflict policy`()
    async throws
  {
    for key in ["fail", "keepStored", "overwrite", "merge"] {
      try context.insert(SyncedFilm(key, "Alien"))
    }
    try save()
    try await sync()
    for key in ["fail", "keepStored", "overwrite", "merge"] {
      try await theirs.update(key, set: ["title": "Theirs"])
    }
    let films = try await context.all(SyncedFilm.self)
    for film in films { film.plays = 7 }
    try await sync()
    for film in films { #expect(film.title == "Alien" && film.plays == 7 && film.hasChanges) }
    let error = try #require(throws: ObjectConflictError.self) { try save() }
    #expect(error.conflicts.count == 4)
    #expect(error.conflicts.allSatisfy { $0.stored?["title"] == "Theirs" })
    context.conflictPolicy = .merge { conflict in
      var merged = conflict.stored ?? [:]
      switch conflict.stored?["name"]?.string {
      case "merge": merged["plays"] = conflict.mine?["plays"] ?? .null
      case "overwrite": return conflict.mine
      default: return nil
      }
      return merged
    }
    try save()
    try await sync()
    for store in [store, other] {
      let films = store["SyncedFilm"]
      #expect(try await films.get("merge")?["title"] == "Theirs")
      #expect(try await films.get("merge")?["plays"] == 7)
      #expect(try await films.get("overwrite")?["title"] == "Alien")
      #expect(try await films.get("overwrite")?["plays"] == 7)
      #expect(try await films.get("keepStored")?["title"] == "Theirs")
      #expect(try await films.get("keepStored")?["plays"] == 0)
    }
  }

  @Test func `A pulled deletion of an object with changes is a conflict of the context`()
    async throws
  {
    let film = try context.insert(SyncedFilm("a", "Alien"))
    try save()
    try await sync()
    try await theirs.delete("a")
    film.plays = 3
    try await sync()
    let error = try #require(throws: ObjectConflictError.self) { try save() }
    #expect(error.conflicts.map(\.isDeletedInStore) == [true])
    context.conflictPolicy = .overwrite
    try save()
    try await sync()
    #expect(try await theirs.get("a")?["plays"] == 3)
  }

  @Test func `Objects without keys stay the objects that they are when their collection is synced`()
    async throws
  {
    let note = try context.insert(SyncedNote("one"))
    try save()
    try await sync(["SyncedNote"])
    try await sync(["SyncedNote"])
    #expect(try await other["SyncedNote"].count() == 1)
    #expect(!note.isDeleted)
    note.text = "two"
    try save()
    let second = try context.insert(SyncedNote("three"))
    try save()
    try await sync(["SyncedNote"])
    #expect(!second.isDeleted)
    #expect(try await other["SyncedNote"].find("[text] = 'two'").count() == 1)
    #expect(try await other["SyncedNote"].count() == 2)
    #expect(try await context.all(SyncedNote.self).count == 2)
  }
}
