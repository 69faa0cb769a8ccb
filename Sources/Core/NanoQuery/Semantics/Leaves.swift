// SPDX-License-Identifier: MIT

package import NanoDocument

/// A leaf: a value that is neither an object nor an array, with its path.
package struct Leaf: Sendable, Hashable {
  /// The path without array indices: every element has the path of its array.
  package let path: FieldPath
  package let value: DocumentValue

  package init(path: FieldPath, value: DocumentValue) {
    self.path = path
    self.value = value
  }
}

/// Enumerates the leaves of documents.
///
/// ```swift
/// Leaves.all(in: ["a": [1, ["b": 2]], "c": [:]])   // a: 1, a.b: 2
/// ```
package enum Leaves {
  /// Returns all leaves, in document order.
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
      // Only the document itself has an empty path, and it is an object.
      if !names.isEmpty { found.append(Leaf(path: FieldPath(components: names), value: value)) }
    }
  }
}

extension Condition {
  /// Returns whether a leaf of a document satisfies the condition inside a ``leaf(_:)``.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a malformed regular expression.
  package func holds(
    for leaf: Leaf, of document: DocumentSubject
  ) throws(StoreError) -> Bool {
    try Evaluator(LeafSubject(leaf: leaf, document: document)).holds(self)
  }
}
