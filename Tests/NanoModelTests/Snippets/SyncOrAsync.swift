// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

final class Draft: Codable {
  var title: String
  init(_ title: String) { self.title = title }
}

func count(_ films: DocumentCollection) throws -> Int {
  try films.count()  // runs on this thread
}

func countLater(_ films: DocumentCollection) async throws -> Int {
  try await films.count()  // runs on a thread of the store; suspends this task
}

@Suite("Code in the article Sync or async")
struct SyncOrAsyncSnippets {
  @Test("The code runs as one program", .timeLimit(.minutes(10))) func code() async throws {
    let store = try Store(.memory)
    let films = store["films"]
    let log = store["log"]

    let key = try await store.write {
      let ran = try films.insert(["title": "Ran", "year": 1985])
      try log.insert(["event": "inserted", "title": "Ran"])
      return ran.key
    }
    #expect(try await films.get(key ?? "")?["title"] == "Ran")
    #expect(try await countLater(films) == store.blocking { try count(films) })

    var titles: [String] = []
    try store.blocking {
      try films.find().each { film in titles.append(film["title"]?.string ?? "") }
    }
    #expect(titles == ["Ran"])

    try await films.insert(Draft("Kagemusha"))  // transfers a new value
    let drafts = try await films.find(Field("year") == nil).decoded(as: Draft.self)
    try store.blocking { try films.insert(drafts[0]) }  // the value stays in use
    drafts[0].title = "Dreams"
    #expect(try await films.find(Field("title") == "Kagemusha").count() == 2)

    Task { try films.count() }  // blocks the thread that runs the task
    Task { try await films.count() }  // does not

    let task = Task { try await films.find("[title] LIKE '%n'").count() }
    task.cancel()
    _ = await task.result

    films.enqueue { try $0.save(["title": "Ikiru"], key: "ikiru") }
    films.enqueue { try $0.update("ikiru", set: ["year": 1952]) }  // always runs second
    try await films.finishQueued()
    #expect(try await films.get("ikiru")?["year"] == 1952)
  }
}
