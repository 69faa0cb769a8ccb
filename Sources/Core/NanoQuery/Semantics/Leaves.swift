// SPDX-License-Identifier: MIT

package import NanoDocument

/// A value that is neither object nor array, and where it stands.
package struct Leaf: Sendable, Hashable {
  /// The names from the outside in. Arrays add nothing: every element stands at the array's path.
  package let path: FieldPath
  package let value: DocumentValue

  package init(path: FieldPath, value: DocumentValue) {
    self.path = path
    self.value = value
  }
}

/// Takes documents apart into their leaves.
///
/// ```swift
/// Leaves.all(in: ["a": [1, ["b": 2]], "c": [:]])   // a: 1, a.b: 2
/// ```
package enum Leaves {
  /// Every leaf, in document order.
  package static func all(in value: DocumentValue) -> [Leaf] {
    var found: [Leaf] = []
    collect(value, [], &found)
    return found
  }

  private static func collect(_ value: DocumentValue, _ names: [String], _ found: inout [Leaf]) {
    switch value {
    case .object(let object):
      for (name, value) in object { collect(value, names + [name], &found) }
    case .array(let array):
      for element in array { collect(element, names, &found) }
    default:
      // Only the document itself has no name, and it is an object.
      if !names.isEmpty { found.append(Leaf(path: FieldPath(components: names), value: value)) }
    }
  }
}

extension Condition {
  /// Whether one leaf fulfils what stands inside ``leaf(_:)``.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a regular expression that does not parse.
  package func holds(for leaf: Leaf) throws(StoreError) -> Bool {
    try Evaluator(LeafSubject(leaf: leaf, document: DocumentSubject([:]))).holds(self)
  }
}
