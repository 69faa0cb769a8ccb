// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

@Model struct Place: Equatable {
  var street: String
  var country = "UK"
}

@Model(collection: "people")
struct Person: Equatable {
  @Key var id: UUID = UUID()
  @Field("FirstName") var firstName: String
  @Indexed var lastName: String
  var age: Int?
  var tags: [String] = []
  var home: Place?
  var past: [Place] = []
  var mood: Mood = .good
  var shape: Shape?
  var parts: [String: DocumentValue] = [:]
  var salary = 0.0
  @Transient var isSelected = false
}

enum Mood: String { case good, bad }
enum Shape: Codable, Equatable {
  case circle(radius: Double)
  case square
}
