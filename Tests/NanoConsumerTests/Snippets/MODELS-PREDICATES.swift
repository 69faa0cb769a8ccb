import Foundation
import NanoStoreModels

@Model struct Home {
  var country: String
}

@Model struct Person {
  var lastName: String
  var age: Int
  var home: Home?
  var tags: [String] = []
}

let people = try Store(.memory)[Person.self]
