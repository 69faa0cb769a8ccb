import Foundation
import NanoStoreModels

let store = try Store(.memory)
let people = store[Person.self]
