// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Model final class Painter {
  var name: String
  var country: String
  init(name: String, country: String) {
    self.name = name
    self.country = country
  }
}

@Model final class Canvas {
  var title: String
  @Relationship var artist: Painter?
  init(title: String, artist: Painter? = nil) {
    self.title = title
    self.artist = artist
  }
}

@MainActor @Suite("Conditions on related objects") struct RelatedObjectTests {
  @Test("A condition on the objects of a relationship finds stored and unsaved objects")
  func has() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let a = Painter(name: "A", country: "UK")
    try context.insert(Canvas(title: "one", artist: a))
    try context.insert(Canvas(title: "two"))
    try context.save()
    let query = context.find(Canvas.self) { $0.artist.has { $0.country == "UK" } }
    #expect(try query.fetch().map(\.title) == ["one"])
    try context.insert(Canvas(title: "three", artist: a))
    #expect(try query.fetch().map(\.title) == ["one", "three"])
  }
}
