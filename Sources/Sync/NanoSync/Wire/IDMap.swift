// SPDX-License-Identifier: MIT

import NanoDocument

/// Values by document ID, compared by bytes: two Unicode forms of a text are two IDs.
package struct IDMap<Value> {
  private var values: [ExactName: Value] = [:]

  package init() {}

  package var isEmpty: Bool { values.isEmpty }
  package var count: Int { values.count }
  package var ids: [String] { values.keys.map(\.text) }

  package subscript(_ id: String) -> Value? {
    get { values[ExactName(id)] }
    set { values[ExactName(id)] = newValue }
  }

  package subscript(_ id: String, default value: @autoclosure () -> Value) -> Value {
    get { values[ExactName(id), default: value()] }
    // Appending to an array in place: a getter and a setter would copy it.
    _modify { yield &values[ExactName(id), default: value()] }
  }
}

extension IDMap: Sendable where Value: Sendable {}
extension IDMap: Equatable where Value: Equatable {}

extension IDMap: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, Value)...) {
    for (id, value) in elements { self[id] = value }
  }
}

extension IDMap: Sequence {
  package func makeIterator() -> AnyIterator<(id: String, value: Value)> {
    var iterator = values.makeIterator()
    return AnyIterator { iterator.next().map { (id: $0.key.text, value: $0.value) } }
  }
}
