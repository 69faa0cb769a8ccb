// SPDX-License-Identifier: MIT

/// The argument of `--only`.
package struct ScenarioNames {
  package let names: [String]

  package init(_ text: String) { names = text.split(separator: ",").map(String.init) }

  /// - Throws: ``UnknownScenario``.
  package func chosen(from scenarios: [any Scenario]) throws -> [any Scenario] {
    try chosen(from: scenarios, name: \.name)
  }

  /// - Throws: ``UnknownScenario``.
  package func chosen<Element>(
    from elements: [Element], name: (Element) -> String
  ) throws -> [Element] {
    let known = elements.map(name)
    for name in names where !known.contains(name) {
      throw UnknownScenario(name: name, known: known)
    }
    return elements.filter { names.contains(name($0)) }
  }
}

package struct UnknownScenario: Error, CustomStringConvertible {
  package let name: String
  package let known: [String]

  package var description: String {
    "Unknown scenario \"\(name)\". Available scenarios: \(known.joined(separator: ", "))"
  }
}
