import NanoStoreModels

@Model struct Person {
  @Key var id: String
  var city: String
  var age: Int
}

let store = try Store(.memory)
let films = store["films"]
let series = store["series"]
let people = store[Person.self]
