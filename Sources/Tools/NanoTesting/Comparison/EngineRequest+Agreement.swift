// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineRequest.Response {
  /// Returns whether the result of an engine is equivalent to this one.
  ///
  /// Ignores differences that the semantics permit: the last bits of a sum of doubles, and which of several equal values
  /// (1 and 1.0) represents them.
  package func agrees(with actual: EngineRequest.Response, _ reference: ReferenceEngine) throws
    -> Bool
  {
    switch (self, actual) {
    case (.values(let a), .values(let b)):
      return a.elementsEqual(b) { ValueOrder.compare($0, $1) == 0 }
    case (.groups(let a), .groups(let b)):
      let largest = try Self.largest(reference)
      return a.count == b.count
        && zip(a, b).allSatisfy { expected, actual in
          expected.group.elementsEqual(actual.group) { ValueOrder.compare($0, $1) == 0 }
            && expected.values.elementsEqual(actual.values) { Self.isNear($0, $1, largest) }
        }
    case (.objects(let a), .objects(let b)):
      let largest = try Self.largest(reference)
      return a.count == b.count && zip(a, b).allSatisfy { Self.agree($0, $1, largest) }
    case (.contents(let a), .contents(let b)): return a.hasSameBytes(as: b)
    default: return self == actual
    }
  }

  /// Returns whether two aggregates are equal within rounding errors, which depend on the order of addition, and on the
  /// engine: a server adds the decimals of doubles exactly.
  ///
  /// Sums that overflow in one order of addition but not in another are considered equal.
  private static func isNear(_ a: DocumentValue, _ b: DocumentValue, _ largest: Double) -> Bool {
    if ValueOrder.compare(a, b) == 0 { return true }
    guard let x = a.double, let y = b.double else { return false }
    return largest > 1e200 || (x - y).magnitude <= largest * 1e-12
  }

  /// Returns whether two rows have the same fields with equal values.
  private static func agree(_ a: DocumentObject, _ b: DocumentObject, _ largest: Double) -> Bool {
    a.count == b.count
      && zip(a, b).allSatisfy { expected, actual in
        expected.name.hasSameBytes(as: actual.name)
          && isNear(expected.value, actual.value, largest)
      }
  }

  /// Returns the largest magnitude of any number in the collection.
  private static func largest(_ reference: ReferenceEngine) throws -> Double {
    var largest = 0.0
    func visit(_ value: DocumentValue) {
      switch value {
      case .int, .double, .decimal:
        let magnitude = value.double?.magnitude ?? 0
        if magnitude.isFinite { largest = max(largest, magnitude) }
      case .array(let array): array.forEach(visit)
      case .object(let object): for (_, field) in object { visit(field) }
      default: break
      }
    }
    try reference.read(.snapshot, nil) { reader in
      try reader.find(Query(), in: Script.collection) { document in
        var json = JSONReader(document.body)
        visit(try json.value())
        return true
      }
    }
    return largest
  }
}
