import NanoStore

@MainActor final class PersonList {
  func show(_ people: [Document]) {}
}

@MainActor final class Badge {
  func show(_ count: Int) {}
}

let store = try Store(.memory)
let people = store["people"]
let list = PersonList()
let badge = Badge()
