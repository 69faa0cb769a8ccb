// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine

/// The path catalog in memory: every path in a collection's documents, with the types observed there.
///
/// Walking a document records its paths. Documents of one kind have their names in the same order, so each name
/// is first compared with the one that followed last time; a document that adds nothing new costs a few
/// nanoseconds per field.
///
/// Confined to the connection that created it.
package final class PathTrie {
  package struct Node {
    var nameOffset: Int32
    var nameLength: Int32
    package var types: Int32
    var firstChild: Int32 = -1
    var lastChild: Int32 = -1
    var nextSibling: Int32 = -1
    /// The node of the elements, if this path ever held an array.
    var element: Int32 = -1
    var childCount: Int32 = 0
    var parent: Int32
    /// The number under which scalar values at this path are indexed; ``unnumbered`` until the path has held a
    /// value.
    package var attribute: Int32 = PathTrie.unnumbered
    var isChanged = false
  }

  // Unchecked: each read of a property that other modules see is checked, and this one is read for each field.
  @exclusivity(unchecked) package private(set) var nodes: UnsafeMutablePointer<Node>
  private(set) var count = 1
  private var capacity = 64
  private(set) var names: UnsafeMutablePointer<UInt8>
  private var nameCount = 0
  private var nameCapacity = 1024
  /// Nodes whose types have not been written to the file yet.
  package private(set) var changed: [Int32] = []
  /// Whether a decimal occurred at a path that never had one, since this was last set to `false`.
  package var hasNewDecimals = false
  /// What ``mark(_:_:)`` has changed since the last flush.
  private var additions: [Addition] = []
  private var flushes = 0

  /// A node as it was before a type was added.
  private struct Addition {
    let node: Int32
    let types: Int32
    let wasChanged: Bool
    let hadNewDecimals: Bool
  }

  /// The limits on names per object and on paths per collection, beyond which no more are tracked: such objects
  /// are maps with user data as names, which are not worth indexing. Arbitrary.
  static let maximumChildren: Int32 = 1_000
  static let maximumPaths = 20_000

  static let root: Int32 = 0

  /// The number for scalar values whose names are not tracked because the documents have too many.
  static let rootAttribute: Int32 = 0
  static let unnumbered: Int32 = -1
  /// The nesting depth of the current value.
  var depth = 0
  /// The largest number in use.
  private var lastAttribute = PathTrie.rootAttribute

  package init() {
    nodes = .allocate(capacity: capacity)
    names = .allocate(capacity: nameCapacity)
    nodes.initialize(
      to: Node(
        nameOffset: 0, nameLength: 0, types: 0, parent: -1, attribute: Self.rootAttribute))
  }

  deinit {
    nodes.deallocate()
    names.deallocate()
  }

  /// Records a type, and adds the node to the next flush if the type is new there.
  @inline(__always)
  func mark(_ node: Int32, _ types: Int32) {
    if nodes[Int(node)].types & types != types { markNew(node, types) }
  }

  private func markNew(_ node: Int32, _ types: Int32) {
    additions.append(
      Addition(
        node: node, types: nodes[Int(node)].types, wasChanged: nodes[Int(node)].isChanged,
        hadNewDecimals: hasNewDecimals))
    let decimal = Int32(ObservedTypes.decimal.rawValue)
    if types & decimal != 0, nodes[Int(node)].types & decimal == 0 { hasNewDecimals = true }
    nodes[Int(node)].types |= types
    guard node != Self.root, !nodes[Int(node)].isChanged else { return }
    if nodes[Int(node)].attribute == Self.unnumbered {
      lastAttribute += 1
      nodes[Int(node)].attribute = lastAttribute
    }
    nodes[Int(node)].isChanged = true
    changed.append(node)
  }

  package func takeChanged() -> [Int32] {
    for node in changed { nodes[Int(node)].isChanged = false }
    additions.removeAll()
    flushes += 1
    defer { changed.removeAll() }
    return changed
  }

  /// What has been recorded so far.
  package struct Position {
    fileprivate let additions: Int
    fileprivate let nodes: Int
    fileprivate let nameBytes: Int
    fileprivate let flushes: Int
  }

  package var position: Position {
    Position(additions: additions.count, nodes: count, nameBytes: nameCount, flushes: flushes)
  }

  /// Forgets what was recorded after a position, because its document is not stored; nothing if it was flushed. The
  /// numbers of attributes that were assigned are not used again.
  package func forget(after position: Position) {
    guard position.flushes == flushes else { return }
    while additions.count > position.additions, let addition = additions.popLast() {
      nodes[Int(addition.node)].types = addition.types
      hasNewDecimals = addition.hadNewDecimals
      guard addition.node != Self.root, !addition.wasChanged else { continue }
      nodes[Int(addition.node)].isChanged = false
      changed.removeLast()
    }
    while count > position.nodes { removeLast() }
    nameCount = position.nameBytes
  }

  /// Removes the node that was appended last, which is the last child of its parent or its element.
  private func removeLast() {
    count -= 1
    let node = Int32(count)
    let parent = Int(nodes[count].parent)
    guard nodes[parent].element != node else {
      nodes[parent].element = -1
      return
    }
    nodes[parent].childCount -= 1
    guard nodes[parent].firstChild != node else {
      nodes[parent].firstChild = -1
      nodes[parent].lastChild = -1
      return
    }
    var previous = nodes[parent].firstChild
    while nodes[Int(previous)].nextSibling != node { previous = nodes[Int(previous)].nextSibling }
    nodes[Int(previous)].nextSibling = -1
    nodes[parent].lastChild = previous
  }

  func name(_ node: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: names + Int(nodes[Int(node)].nameOffset) + 1, count: Int(nodes[Int(node)].nameLength))
  }

  /// The name as written in a document: `"name":`.
  @inline(__always)
  func quotedName(_ node: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: names + Int(nodes[Int(node)].nameOffset), count: Int(nodes[Int(node)].nameLength) + 3)
  }

  /// Returns the child with this name by a linear search of all children, or -1.
  func find(_ parent: Int32, _ name: UnsafeRawBufferPointer) -> Int32 {
    var child = nodes[Int(parent)].firstChild
    while child >= 0 {
      if self.name(child).elementsEqual(name) { return child }
      child = nodes[Int(child)].nextSibling
    }
    return -1
  }

  /// Returns the child with this name, creating it if necessary; -1 if the parent has reached its limit.
  func findOrMake(_ parent: Int32, _ name: UnsafeRawBufferPointer) -> Int32 {
    let found = find(parent, name)
    if found >= 0 { return found }
    guard nodes[Int(parent)].childCount < Self.maximumChildren, count < Self.maximumPaths else {
      mark(parent, Int32(ObservedTypes.open.rawValue))
      return -1
    }
    let node = append(parent, name)
    if nodes[Int(parent)].lastChild >= 0 {
      nodes[Int(nodes[Int(parent)].lastChild)].nextSibling = node
    } else {
      nodes[Int(parent)].firstChild = node
    }
    nodes[Int(parent)].lastChild = node
    nodes[Int(parent)].childCount += 1
    return node
  }

  func elementNode(_ parent: Int32) -> Int32 {
    if nodes[Int(parent)].element >= 0 { return nodes[Int(parent)].element }
    let node = append(parent, UnsafeRawBufferPointer(start: nil, count: 0))
    nodes[Int(parent)].element = node
    return node
  }

  private func append(_ parent: Int32, _ name: UnsafeRawBufferPointer) -> Int32 {
    if count == capacity {
      let grown = UnsafeMutablePointer<Node>.allocate(capacity: capacity * 2)
      grown.moveInitialize(from: nodes, count: count)
      nodes.deallocate()
      nodes = grown
      capacity *= 2
    }
    if nameCount + name.count + 3 > nameCapacity {
      nameCapacity = max(nameCapacity * 2, nameCount + name.count + 3)
      let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: nameCapacity)
      grown.moveInitialize(from: names, count: nameCount)
      names.deallocate()
      names = grown
    }
    let offset = nameCount
    names[offset] = UInt8(ascii: "\"")
    for (index, byte) in name.enumerated() { names[offset + 1 + index] = byte }
    names[offset + 1 + name.count] = UInt8(ascii: "\"")
    names[offset + 2 + name.count] = UInt8(ascii: ":")
    nameCount += name.count + 3
    (nodes + count).initialize(
      to: Node(
        nameOffset: Int32(offset), nameLength: Int32(name.count), types: 0, parent: parent))
    count += 1
    return Int32(count - 1)
  }
}

extension PathTrie {
  /// Returns what is known about the values at a path across all documents; `nil` if not every path is tracked.
  package func summary(at path: FieldPath) -> PathSummary? {
    let reached = reach(path)
    guard reached.isComplete else { return nil }
    return PathSummary(
      types: reached.types.subtracting(.open), entersArray: reached.depth > 0,
      entersNestedArray: reached.depth > 1)
  }

  /// Returns whether a decimal ever occurred at a path, as far as it is tracked. A name that is tracked stays so if its
  /// object has too many others.
  package func hasDecimals(at path: FieldPath) -> Bool { reach(path).types.contains(.decimal) }

  /// Returns the types at a path, the greatest number of arrays around them, and whether all names on the way are
  /// tracked.
  private func reach(_ path: FieldPath) -> (types: ObservedTypes, depth: Int, isComplete: Bool) {
    var reached = [Self.root]
    var depth = 0
    var isComplete = true
    for component in path.components {
      let name = StoredName(component)
      var next: [Int32] = []
      for node in reached {
        if nodes[Int(node)].types & Int32(ObservedTypes.open.rawValue) != 0 { isComplete = false }
        let child = name.utf8.withUnsafeBytes { find(node, $0) }
        if child >= 0 { next.append(child) }
      }
      reached = []
      for node in next { spread(node, 0, &reached, &depth) }
    }
    let types = reached.reduce(0) { $0 | nodes[Int($1)].types }
    return (ObservedTypes(rawValue: Int(types)), depth, isComplete)
  }

  /// Adds a node and, recursively, its element nodes.
  ///
  /// - Parameter depth: The number of arrays around the node, and then the largest one.
  private func spread(
    _ node: Int32, _ arrays: Int, _ reached: inout [Int32], _ depth: inout Int
  ) {
    reached.append(node)
    depth = max(depth, arrays)
    let element = nodes[Int(node)].element
    if element >= 0 { spread(element, arrays + 1, &reached, &depth) }
  }

  /// Every path with its types, sorted by path.
  package var observed: [ObservedPath] {
    (1..<Int32(max(1, count))).filter { nodes[Int($0)].types != 0 }.map { node in
      ObservedPath(
        path: path(of: node).unescaped.text,
        types: ObservedTypes(rawValue: Int(nodes[Int(node)].types)))
    }.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Returns the path of a node as stored in the file.
  package func path(of node: Int32) -> CatalogPath {
    var steps: [CatalogPath.Step] = []
    var node = node
    while node > 0 {
      let parent = nodes[Int(node)].parent
      steps.append(
        nodes[Int(parent)].element == node
          ? .element : .name(String(decoding: name(node), as: UTF8.self)))
      node = parent
    }
    return CatalogPath(steps: steps.reversed())
  }

  /// Marks a full root as open after paths were read from a file, which does not store that names were omitted.
  package func settle() {
    // The elements of arrays that were always empty count toward the limit, and are not stored.
    let array = Int32(ObservedTypes.array.rawValue)
    let omitted = (0..<count).count { nodes[$0].types & array != 0 && nodes[$0].element < 0 }
    if nodes[Int(Self.root)].childCount >= Self.maximumChildren
      || count + omitted >= Self.maximumPaths
    {
      nodes[Int(Self.root)].types |= Int32(ObservedTypes.open.rawValue)
    }
  }

  /// Adds a path that was read from the file.
  package func add(_ path: CatalogPath, _ types: Int32, attribute: Int32) {
    var node = Self.root
    for step in path.steps {
      switch step {
      case .element: node = elementNode(node)
      case .name(let name):
        var name = name
        node = name.withUTF8 { findOrMake(node, UnsafeRawBufferPointer($0)) }
        if node < 0 { return }
      }
    }
    nodes[Int(node)].types |= types
    nodes[Int(node)].attribute = attribute
    lastAttribute = max(lastAttribute, attribute)
  }
}
