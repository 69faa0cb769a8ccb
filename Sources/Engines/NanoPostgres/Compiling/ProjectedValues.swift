// SPDX-License-Identifier: MIT

import NanoDocument

/// The values that are extracted from each document, and the values computed from them.
struct ProjectedValues {
  private var names: [ExactName: String] = [:]
  private(set) var extracted: [String] = []
  private(set) var computed: [String] = []

  /// Extracts a value and returns its name. The same expression is extracted only once.
  mutating func extract(_ expression: String) -> String {
    if let known = names[ExactName(expression)] { return known }
    let name = "t\(extracted.count)"
    names[ExactName(expression)] = name
    extracted.append("\(expression) AS \(name)")
    return name
  }

  /// Computes a value under a name.
  mutating func compute(_ expression: String, as name: String) {
    computed.append("\(expression) AS \(name)")
  }

  /// Computes a value and returns its name. The same expression is computed only once.
  mutating func compute(_ expression: String) -> String {
    let key = ExactName("computed " + expression)
    if let known = names[key] { return known }
    let name = "v\(computed.count)"
    names[key] = name
    compute(expression, as: name)
    return name
  }
}
