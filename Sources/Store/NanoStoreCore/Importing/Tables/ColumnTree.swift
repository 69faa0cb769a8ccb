// SPDX-License-Identifier: MIT

import NanoDocument

/// The fields that the columns of a table become: `name`, `address.city`, `address.zip`.
///
/// ```swift
/// let tree = try ColumnTree([FieldPath("name"), FieldPath("address.city")])
/// tree.write(to: &writer) { column, writer in … }     // {"name":"Ada","address":{"city":"London"}}
/// ```
struct ColumnTree {
  private enum Step {
    /// A value, after its name.
    case value(column: Int, name: [UInt8])
    case open(name: [UInt8])
    case close
  }
  private let steps: [Step]

  /// - Parameter paths: The path of each column; nil for one that is not a field.
  /// - Throws: ``StoreError/Code/invalidCSV`` if two columns have the same path, or the path of one
  ///   leads through another; ``StoreError/Code/invalidPath``.
  init(_ paths: [FieldPath?]) throws(StoreError) {
    let root = Node("")
    for (column, path) in paths.enumerated() {
      guard let path else { continue }
      do throws(StoreError) {
        try path.validate()
      } catch {
        throw error.adding(.column, "\(column + 1)")
      }
      guard path.components.count < DocumentValue.maximumDepth else {
        throw StoreError(
          .invalidPath, "A field path has too many components",
          [.limit: "\(DocumentValue.maximumDepth - 1)", .column: "\(column + 1)"])
      }
      try root.add(path, column, among: paths)
    }
    var steps: [Step] = []
    root.appendSteps(to: &steps)
    self.steps = steps
  }

  /// Writes one object. Objects without fields are omitted.
  ///
  /// - Parameter value: Writes the value of a column, or returns false if there is none.
  @inline(__always)
  func write(
    to writer: inout JSONWriter, _ value: (Int, inout JSONWriter) throws -> Bool
  ) rethrows {
    var open: [(start: Int, isFirst: Bool)] = []
    var isFirst = true
    writer.byte(UInt8(ascii: "{"))
    for step in steps {
      let start = writer.count
      switch step {
      case .value(let column, let name):
        if !isFirst { writer.byte(UInt8(ascii: ",")) }
        name.withUnsafeBytes { writer.raw($0) }
        if try value(column, &writer) { isFirst = false } else { writer.truncate(to: start) }
      case .open(let name):
        open.append((start, isFirst))
        if !isFirst { writer.byte(UInt8(ascii: ",")) }
        name.withUnsafeBytes { writer.raw($0) }
        writer.byte(UInt8(ascii: "{"))
        isFirst = true
      case .close:
        let outer = open.removeLast()
        if isFirst {
          writer.truncate(to: outer.start)
          isFirst = outer.isFirst
        } else {
          writer.byte(UInt8(ascii: "}"))
        }
      }
    }
    writer.byte(UInt8(ascii: "}"))
  }

  private final class Node {
    private let name: String
    private var column: Int?
    private var children: [Node] = []
    private var positions: [ExactName: Int] = [:]

    init(_ name: String) { self.name = name }

    func add(_ path: FieldPath, _ column: Int, among paths: [FieldPath?]) throws(StoreError) {
      var node = self
      for name in path.components {
        if let earlier = node.column { throw Node.conflict(paths[earlier], path) }
        node = node.child(name)
      }
      if node.column != nil {
        throw StoreError(
          .invalidCSV, "Two columns have the same name", [.field: path.description])
      }
      if let inner = node.firstColumn { throw Node.conflict(path, paths[inner]) }
      node.column = column
    }

    private func child(_ name: String) -> Node {
      if let position = positions[ExactName(name)] { return children[position] }
      let child = Node(name)
      positions[ExactName(name)] = children.count
      children.append(child)
      return child
    }

    private var firstColumn: Int? { column ?? children.first?.firstColumn }

    private static func conflict(_ outer: FieldPath?, _ inner: FieldPath?) -> StoreError {
      StoreError(
        .invalidCSV, "A column is both a value and an object with other columns",
        [
          .field: outer?.description ?? "", .actual: inner?.description ?? "",
          .hint: "rename one of the two columns",
        ])
    }

    func appendSteps(to steps: inout [Step]) {
      for child in children {
        var writer = JSONWriter(capacity: child.name.utf8.count + 8)
        writer.fieldName(child.name)
        let name = writer.withBytes { Array($0) }
        if let column = child.column {
          steps.append(.value(column: column, name: name))
        } else {
          steps.append(.open(name: name))
          child.appendSteps(to: &steps)
          steps.append(.close)
        }
      }
    }
  }
}
