// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Every path that occurred in documents of a collection, with the observed types. Stored encrypted, so that
/// the file does not reveal the names of the fields.
///
/// Confined to the transaction that uses it.
final class EncryptedPathCatalog {
  private struct Node {
    let name: String
    /// The name as it appears in a document: `"name":`.
    let stored: [UInt8]
    var types: ObservedTypes = []
    var children: [Int] = []
    /// The positions of the children by name, if a search among many has required them.
    var positions: [ExactName: Int] = [:]
    /// The node of the elements, if an array occurred here.
    var element: Int?
  }
  private var nodes = [Node(name: "", stored: [])]
  /// Whether there are observations that are not stored yet.
  private(set) var isChanged = false

  /// The maximum numbers of names in one object, of paths and of levels. Paths beyond them are not tracked.
  /// Arbitrary; the entire catalog is rewritten whenever a path is new.
  private static let maximumChildren = 1_000
  private static let maximumPaths = 5_000
  private static let maximumDepth = 100
  /// The maximum number of children that are compared one by one. Arbitrary.
  private static let maximumCompared = 16

  init() {}

  func noteWritten() { isChanged = false }

  /// - Throws: ``StoreError/Code/corruptDocument`` if it is not an object.
  func observe(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    var reader = JSONReader(body)
    guard reader.kind() == .object else {
      throw StoreError(
        .corruptDocument, "A stored document is not an object", [.byteOffset: "0"])
    }
    try object(&reader, 0, depth: 0)
  }

  private func object(_ reader: inout JSONReader, _ node: Int, depth: Int) throws(StoreError) {
    guard depth < Self.maximumDepth else {
      mark(node, .open)
      return try reader.skipValue()
    }
    _ = reader.peekConsume(UInt8(ascii: "{"))
    if reader.peekConsume(UInt8(ascii: "}")) { return }
    // Documents of one kind have their names in the same order.
    var next = 0
    repeat {
      let children = nodes[node].children
      if next < children.count, match(&reader, children[next]) {
        try value(&reader, children[next], depth: depth)
        next += 1
      } else if let (child, position) = try child(node, reader.rawName()) {
        try value(&reader, child, depth: depth)
        next = position + 1
      } else {
        try reader.skipValue()
      }
    } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "}"))
  }

  @inline(__always)
  private func match(_ reader: inout JSONReader, _ node: Int) -> Bool {
    nodes[node].stored.withUnsafeBytes { reader.match($0) }
  }

  /// Returns the child with a name and its position, and creates it if necessary. Returns `nil` if the limit
  /// is reached.
  private func child(
    _ parent: Int, _ name: JSONReader.Name
  ) throws(StoreError) -> (node: Int, position: Int)? {
    if let position = try position(name, among: parent) {
      return (nodes[parent].children[position], position)
    }
    guard nodes[parent].children.count < Self.maximumChildren, nodes.count < Self.maximumPaths
    else {
      mark(parent, .open)
      return nil
    }
    return (add(try name.text, to: parent), nodes[parent].children.count - 1)
  }

  private func position(
    _ name: JSONReader.Name, among parent: Int
  ) throws(StoreError) -> Int? {
    let children = nodes[parent].children
    guard children.count > Self.maximumCompared else {
      return children.firstIndex { child in
        nodes[child].stored.withUnsafeBytes {
          name.matches(UnsafeRawBufferPointer(rebasing: $0[1..<($0.count - 2)]))
        }
      }
    }
    for position in nodes[parent].positions.count..<children.count {
      nodes[parent].positions[ExactName(nodes[children[position]].name)] = position
    }
    return nodes[parent].positions[ExactName(try name.text)]
  }

  private func add(_ name: String, to parent: Int) -> Int {
    let stored = Array("\"".utf8) + StoredName(name).utf8 + Array("\":".utf8)
    nodes.append(Node(name: name, stored: stored))
    nodes[parent].children.append(nodes.count - 1)
    return nodes.count - 1
  }

  private func element(_ node: Int) -> Int {
    if let element = nodes[node].element { return element }
    nodes.append(Node(name: "", stored: []))
    nodes[node].element = nodes.count - 1
    return nodes.count - 1
  }

  var hasDecimals: Bool { nodes.contains { $0.types.contains(.decimal) } }

  @inline(__always)
  private func mark(_ node: Int, _ types: ObservedTypes) {
    guard !nodes[node].types.isSuperset(of: types) else { return }
    nodes[node].types.formUnion(types)
    isChanged = true
  }

  private func value(_ reader: inout JSONReader, _ node: Int, depth: Int) throws(StoreError) {
    switch reader.kind() {
    case .string:
      let string = try reader.rawString()
      let isCut = string.isEscaped && string.text.utf8.contains(0)
      mark(node, isCut ? [.string, .irregular] : .string)
    case .number: mark(node, reader.skipNumber().isDouble ? .double : .int)
    case .bool:
      mark(node, .bool)
      try reader.skipValue()
    case .null:
      mark(node, .null)
      try reader.skipValue()
    case .array:
      mark(node, .array)
      try array(&reader, node, depth: depth + 1)
    case .object:
      if reader.isStoredForm { return try storedForm(&reader, node) }
      mark(node, .object)
      try object(&reader, node, depth: depth + 1)
    case .none:
      throw StoreError(
        .corruptDocument, "A stored document does not decode",
        [.byteOffset: "\(reader.offset)", .expected: "a value"])
    }
  }

  private func array(_ reader: inout JSONReader, _ node: Int, depth: Int) throws(StoreError) {
    guard depth < Self.maximumDepth else {
      mark(node, .open)
      return try reader.skipValue()
    }
    let element = element(node)
    _ = reader.peekConsume(UInt8(ascii: "["))
    if reader.peekConsume(UInt8(ascii: "]")) { return }
    repeat {
      try value(&reader, element, depth: depth)
    } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "]"))
  }

  /// Observes a value that JSON lacks.
  private func storedForm(_ reader: inout JSONReader, _ node: Int) throws(StoreError) {
    var ahead = reader
    let isRegular = ahead.skipStoredDate()
    let value = try reader.value()
    let types: ObservedTypes =
      switch value {
      case .date: isRegular ? .date : [.date, .irregular]
      case .data: .data
      case .url: .url
      case .double: [.double, .irregular]
      case .decimal: .decimal
      case .object: [.object, .open]
      default: .irregular
      }
    mark(node, types)
  }
}

extension EncryptedPathCatalog {
  /// The stored form: each node is an array of its types, its named children and the node of its elements.
  var value: DocumentValue { value(0) }

  private func value(_ node: Int) -> DocumentValue {
    // Names and nodes alternate: two names of an object may differ only in Unicode composition.
    let children = nodes[node].children.flatMap { [.string(nodes[$0].name), value($0)] }
    return [
      .int(Int64(nodes[node].types.rawValue)), .array(children),
      nodes[node].element.map { value($0) } ?? .null,
    ]
  }

  convenience init(_ value: DocumentValue) {
    self.init()
    read(value, into: 0)
  }

  private func read(_ value: DocumentValue, into node: Int) {
    guard let parts = value.array, parts.count == 3 else { return }
    nodes[node].types = ObservedTypes(rawValue: Int(parts[0].int ?? 0))
    let children = parts[1].array ?? []
    for index in stride(from: 0, to: children.count - 1, by: 2) {
      read(children[index + 1], into: add(children[index].string ?? "", to: node))
    }
    if !parts[2].isNull { read(parts[2], into: element(node)) }
  }

  /// The observed paths as text.
  var observed: [ObservedPath] {
    var found: [ObservedPath] = []
    collect(0, "", &found)
    return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  private func collect(_ node: Int, _ path: String, _ found: inout [ObservedPath]) {
    if node != 0, !nodes[node].types.isEmpty {
      found.append(ObservedPath(path: path, types: nodes[node].types))
    }
    if let element = nodes[node].element { collect(element, path + "[]", &found) }
    for child in nodes[node].children {
      let name = Self.written(nodes[child].name)
      collect(child, path.isEmpty ? name : "\(path).\(name)", &found)
    }
  }

  private static func written(_ name: String) -> String {
    let isPlain = !name.isEmpty && !name.utf8.contains { ".\"[]".utf8.contains($0) }
    if isPlain { return name }
    return "\"" + name.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
  }
}
