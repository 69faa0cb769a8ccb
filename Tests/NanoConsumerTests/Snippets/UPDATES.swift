import Foundation
import NanoStoreModels

@Model
struct Film {
  @Key var id: String
  var year: Int
  var views = 0
  var tags: [String] = []
  var isOld = false
  var cast: [Person] = []
}

@Model
struct Person {
  var name: String
  var age: Int
}

let store = try Store(.memory)
let films = store["films"]
let jobs = store["jobs"]
let visits = store["visits"]
