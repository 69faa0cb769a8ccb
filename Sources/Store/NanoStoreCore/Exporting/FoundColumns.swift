// SPDX-License-Identifier: MIT

import NanoDocument

/// The columns that a table of documents needs.
///
/// A nested object becomes columns such as `address.city`, unless another document has a different
/// value in its place: such a field is one column. A new field is placed after the field before it
/// in its document.
final class FoundColumns {
  private let root = Node("")
  private var hasKeys = false

  func add(_ object: DocumentObject, hasKey: Bool) {
    if hasKey { hasKeys = true }
    root.add(object)
  }

  /// - Throws: ``StoreError/Code/invalidPath`` if a field has an empty name.
  func columns() throws(StoreError) -> [CSVExport.Column] {
    var columns = hasKeys ? [CSVExport.Column.key] : []
    try root.append(to: &columns, below: [])
    return columns
  }

  /// A field with the fields of its objects, in a linked list.
  private final class Node {
    private let name: String
    /// Whether a document has something other than an object with fields here.
    private var isValue = false
    private var first: Node?
    private var next: Node?
    private var children: [ExactName: Node] = [:]

    init(_ name: String) { self.name = name }

    func add(_ object: DocumentObject) {
      var previous: Node?
      for (name, value) in object {
        let child = child(name, after: previous)
        previous = child
        if case .object(let inner) = value, !inner.isEmpty, !child.isValue {
          child.add(inner)
        } else {
          child.isValue = true
        }
      }
    }

    private func child(_ name: String, after previous: Node?) -> Node {
      if let next = previous == nil ? first : previous?.next, next.name.hasSameBytes(as: name) {
        return next
      }
      if let child = children[ExactName(name)] { return child }
      let child = Node(name)
      children[ExactName(name)] = child
      if let previous {
        child.next = previous.next
        previous.next = child
      } else {
        child.next = first
        first = child
      }
      return child
    }

    func append(
      to columns: inout [CSVExport.Column], below path: [String]
    ) throws(StoreError) {
      var child = first
      while let node = child {
        guard !node.name.isEmpty else {
          throw StoreError(
            .invalidPath, "A field with an empty name cannot be a column",
            [.hint: "name the columns to export"])
        }
        let path = path + [node.name]
        if node.isValue {
          columns.append(CSVExport.Column(FieldPath(components: path)))
        } else {
          try node.append(to: &columns, below: path)
        }
        child = node.next
      }
    }

    // A long list would otherwise be released recursively.
    deinit {
      var child = first
      while let node = child {
        child = node.next
        node.next = nil
      }
    }
  }
}
