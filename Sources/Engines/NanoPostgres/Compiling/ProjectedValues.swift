// SPDX-License-Identifier: MIT

import NanoDocument

/// What is taken out of each document, and what is made of that.
struct ProjectedValues {
  private var names: [ExactName: String] = [:]
  private(set) var taken: [String] = []
  private(set) var made: [String] = []

  /// The name of what is taken, once however often it is asked for.
  mutating func take(_ expression: String) -> String {
    if let known = names[ExactName(expression)] { return known }
    let name = "t\(taken.count)"
    names[ExactName(expression)] = name
    taken.append("\(expression) AS \(name)")
    return name
  }

  mutating func make(_ expression: String, as name: String) {
    made.append("\(expression) AS \(name)")
  }

  /// The name of what is made.
  mutating func name(_ expression: String) -> String {
    let asked = ExactName("made " + expression)
    if let known = names[asked] { return known }
    let name = "v\(made.count)"
    names[asked] = name
    make(expression, as: name)
    return name
  }
}
