// SPDX-License-Identifier: MIT

import NanoDocument

/// The revisions of a document as a forest: each revision has at most one parent, and the ends of the branches, the
/// leaves, are the current versions of the document.
///
/// Semantics as observed in CouchDB 3.5, whose examples the tests replay: winner, merging of histories that overlap, and
/// the limit of the length of branches.
package struct RevisionTree: Sendable, Hashable {
  package struct Node: Sendable, Hashable {
    package var id: RevisionID
    /// The index of the parent; nil for a root.
    package var parent: Int?
    /// Whether the revision deletes the document.
    package var isDeleted: Bool
  }
  /// Parents precede their children.
  package private(set) var nodes: [Node] = []

  package init() {}

  /// A revision without a child.
  package struct Leaf: Sendable, Hashable {
    package let id: RevisionID
    package let isDeleted: Bool

    /// Whether the leaf wins over another one: live before deleted, then the higher revision.
    package func precedes(_ other: Leaf) -> Bool {
      isDeleted != other.isDeleted ? !isDeleted : id > other.id
    }
  }

  package var isEmpty: Bool { nodes.isEmpty }

  /// The leaves, the winner first, live ones before deleted ones, each in descending order.
  package var leaves: [Leaf] {
    leafIndices.map { leaf(at: $0) }.sorted { $0.precedes($1) }
  }

  /// The leaf that represents the document; nil if the tree is empty.
  package var winner: Leaf? {
    // Without sorting: a document may have hundreds of conflicting leaves.
    leafIndices.map { leaf(at: $0) }.min { $0.precedes($1) }
  }

  /// The identifiers of the leaves, in no order.
  package var leafIDs: Set<RevisionID> { Set(leafIndices.map { nodes[$0].id }) }

  private func leaf(at index: Int) -> Leaf {
    Leaf(id: nodes[index].id, isDeleted: nodes[index].isDeleted)
  }

  private var leafIndices: [Int] {
    if isLinear { return nodes.isEmpty ? [] : [nodes.count - 1] }
    var isParent = [Bool](repeating: false, count: nodes.count)
    for node in nodes { if let parent = node.parent { isParent[parent] = true } }
    return nodes.indices.filter { !isParent[$0] }
  }

  /// Whether there is only one branch.
  package var isLinear: Bool {
    nodes.indices.allSatisfy { nodes[$0].parent == ($0 == 0 ? nil : $0 - 1) }
  }

  package func contains(_ id: RevisionID) -> Bool { index(of: id) != nil }

  private func index(of id: RevisionID) -> Int? { nodes.lastIndex { $0.id == id } }

  /// Returns whether a revision is a leaf that deletes the document; nil if it is no leaf.
  package func leaf(_ id: RevisionID) -> Leaf? {
    guard let index = index(of: id), !nodes.contains(where: { $0.parent == index }) else {
      return nil
    }
    return Leaf(id: id, isDeleted: nodes[index].isDeleted)
  }

  /// Returns a revision and its known ancestors, the newest first; empty if it is unknown.
  package func history(of id: RevisionID) -> [RevisionID] {
    var (history, at) = ([RevisionID](), index(of: id))
    while let index = at {
      history.append(nodes[index].id)
      at = nodes[index].parent
    }
    return history
  }

  /// Returns the leaves that descend from a revision, the revision itself if it is one.
  package func leaves(from id: RevisionID) -> [Leaf] {
    leaves.filter { $0.id == id || history(of: $0.id).contains(id) }
  }

  /// Returns the newest revision from which both descend; nil if there is none.
  package func commonAncestor(_ a: RevisionID, _ b: RevisionID) -> RevisionID? {
    let others = Set(history(of: b))
    return history(of: a).first { others.contains($0) }
  }
}

extension RevisionTree {
  /// Adds a revision with its ancestry.
  ///
  /// - Parameter history: The revision and its ancestors, the newest first, of consecutive generations.
  /// - Returns: Whether the tree did not contain the revision.
  @discardableResult
  package mutating func add(_ history: [RevisionID], isDeleted: Bool) -> Bool {
    guard let newest = history.first else { return false }
    if let known = index(of: newest) {
      // A longer history joins what were separate trees.
      join(known, history.dropFirst())
      return false
    }
    // From the oldest revision to the newest.
    let path = Array(history.reversed())
    // The newest revision that is known is where the new branch begins. What the tree knows of older ones stays, and is
    // completed from the history.
    let fork = firstKnown(history[...]).map { history.count - 1 - $0 }
    var parent: Int?
    if let fork, let start = index(of: path[fork]) {
      join(start, path[..<fork].reversed()[...])
      parent = index(of: path[fork])
    }
    for id in path[(fork.map { $0 + 1 } ?? 0)...] {
      nodes.append(Node(id: id, parent: parent, isDeleted: false))
      parent = nodes.count - 1
    }
    nodes[nodes.count - 1].isDeleted = isDeleted
    return true
  }

  /// Returns the position of the first revision that is known.
  private func firstKnown(_ ids: ArraySlice<RevisionID>) -> Int? {
    // Nearly always the parent is known. A long list that a client sends is not compared with each node.
    let few = ids.prefix(4)
    if let found = few.firstIndex(where: { index(of: $0) != nil }) { return found }
    guard few.count < ids.count else { return nil }
    let known = Set(nodes.map(\.id))
    return ids[few.endIndex...].firstIndex { known.contains($0) }
  }

  /// Gives a root that is known without its ancestors those of a longer history.
  ///
  /// - Parameter ancestors: The ancestors of the node at the index, the newest first.
  private mutating func join(_ index: Int, _ ancestors: ArraySlice<RevisionID>) {
    var child = index
    var rest = ancestors
    // Each root that is known continues with its own ancestors.
    while true {
      while let next = rest.first, let parent = nodes[child].parent, nodes[parent].id == next {
        child = parent
        rest = rest.dropFirst()
      }
      guard nodes[child].parent == nil, let next = rest.first else { return }
      guard let known = self.index(of: next) else { break }
      reparent(child, known)
      child = self.index(of: next) ?? known
      rest = rest.dropFirst()
    }
    // The missing ancestors up to one that is known, as a new path above the root.
    let meeting = firstKnown(rest)
    let missing = rest[..<(meeting ?? rest.endIndex)]
    let top = meeting.map { rest[$0] }
    let root = nodes[child].id
    var parent: Int? = top.flatMap { self.index(of: $0) }
    for id in missing.reversed() {
      nodes.append(Node(id: id, parent: parent, isDeleted: false))
      parent = nodes.count - 1
    }
    if let childIndex = self.index(of: root), let parent { reparent(childIndex, parent) }
  }

  /// Sets the parent of a root, and restores the order of the nodes.
  private mutating func reparent(_ child: Int, _ parent: Int) {
    guard !isAncestor(child, of: parent) else { return }
    nodes[child].parent = parent
    guard parent > child else { return }
    // Parents first: by depth, stable.
    let depths = depths
    let order = nodes.indices.sorted { (depths[$0], $0) < (depths[$1], $1) }
    var position = [Int](repeating: 0, count: nodes.count)
    for (new, old) in order.enumerated() { position[old] = new }
    nodes = order.map { old in
      var node = nodes[old]
      node.parent = node.parent.map { position[$0] }
      return node
    }
  }

  private func isAncestor(_ ancestor: Int, of index: Int) -> Bool {
    var at: Int? = index
    while let current = at {
      if current == ancestor { return true }
      at = nodes[current].parent
    }
    return false
  }

  /// The number of ancestors of each node.
  private var depths: [Int] {
    var depths = [Int](repeating: -1, count: nodes.count)
    for start in nodes.indices {
      var (path, at) = ([Int](), Optional(start))
      while let index = at, depths[index] < 0 {
        path.append(index)
        at = nodes[index].parent
      }
      var depth = at.map { depths[$0] + 1 } ?? 0
      for index in path.reversed() {
        depths[index] = depth
        depth += 1
      }
    }
    return depths
  }

  /// Limits each branch to its newest revisions. Branches whose fork is cut off become separate trees.
  ///
  /// - Returns: Whether any revision was removed.
  @discardableResult
  package mutating func stem(to limit: Int) -> Bool {
    guard nodes.count > limit else { return false }
    // A revision stays if it is among the newest of any branch.
    var kept = Set<Int>()
    for leaf in leafIndices {
      var at: Int? = leaf
      for _ in 0..<max(1, limit) {
        guard let index = at else { break }
        kept.insert(index)
        at = nodes[index].parent
      }
    }
    return keep(kept)
  }

  /// Removes a leaf and the ancestors that no other leaf has, as CouchDB's purge does.
  ///
  /// - Returns: Whether it was a leaf.
  package mutating func purge(_ id: RevisionID) -> Bool {
    guard leaf(id) != nil else { return false }
    var kept = Set<Int>()
    for leaf in leafIndices where nodes[leaf].id != id {
      var at: Int? = leaf
      while let index = at, kept.insert(index).inserted { at = nodes[index].parent }
    }
    keep(kept)
    return true
  }

  /// - Returns: Whether any revision was removed.
  @discardableResult
  private mutating func keep(_ kept: Set<Int>) -> Bool {
    guard kept.count < nodes.count else { return false }
    var position: [Int: Int] = [:]
    var remaining: [Node] = []
    for index in nodes.indices where kept.contains(index) {
      position[index] = remaining.count
      var node = nodes[index]
      node.parent = node.parent.flatMap { position[$0] }
      remaining.append(node)
    }
    nodes = remaining
    return true
  }
}

extension RevisionTree {
  /// Restores a tree from its nodes, parents first; nil if an index is out of order.
  package init?(nodes: [Node]) {
    guard nodes.indices.allSatisfy({ index in nodes[index].parent.map { $0 < index } ?? true })
    else { return nil }
    self.nodes = nodes
  }
}
