import Foundation
import NanoStoreModels

@MainActor final class PersonList {
  func show<Person>(_ people: [Person]) {}
  func apply<Person>(_ difference: DocumentDifference, _ people: [Person]) {}
}

let store = try Store(.memory)
let list = PersonList()
