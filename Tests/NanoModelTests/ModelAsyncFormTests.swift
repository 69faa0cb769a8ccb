// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Model final class Sketch {
  var title: String
  var version = 1
  init(_ title: String) { self.title = title }
}

@Suite("Async forms of model calls")
struct ModelAsyncFormTests {
  @Test("Class models are stored and read with await")
  func classes() async throws {
    let sketches = try anyStore()[Sketch.self]
    let stored = try await sketches.insert(Sketch("A"))
    stored.value.title = "B"
    try await sketches.save(stored)
    try await sketches.insert([Sketch("C"), Sketch("D")])

    let titles = try await sketches.fetch().map(\.title)
    let page = try await sketches.find(\.title > "B").page(5).models.map(\.title)
    let removed = try await sketches.delete(sketches.find().firstStored()!)

    #expect(titles == ["B", "C", "D"])
    #expect(page == ["C", "D"])
    #expect(removed)
  }

  @Test("A list of changes is applied with await")
  func changes() async throws {
    let sketches = try anyStore()[Sketch.self]
    try await sketches.insert([Sketch("A"), Sketch("B")])
    let changes: [ModelChange<Sketch>] = [.set(\.version, 2)]

    let count = try await sketches.find(\.title == "A").update(changes)

    #expect(count == 1)
    #expect(try await sketches.find(\.version == 2).count() == 1)
  }
}
