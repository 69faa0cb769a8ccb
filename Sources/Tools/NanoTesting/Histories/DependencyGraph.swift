// SPDX-License-Identifier: MIT

/// The order in which transactions must have run, one after the other, given what they read.
struct DependencyGraph {
  enum Dependency {
    /// The second one wrote after the first one.
    case write
    /// The second one read what the first one wrote.
    case read
    /// The second one overwrote what the first one read.
    case overtaken
  }

  private var edges: [[(to: Int, dependency: Dependency)]]

  init(count: Int) { edges = Array(repeating: [], count: count) }

  mutating func add(_ first: Int, _ second: Int, _ dependency: Dependency) {
    if first != second { edges[first].append((second, dependency)) }
  }

  /// Returns the kinds of cycles, each kind only if no stricter one explains it.
  func cycles() -> Set<ListHistory.Anomaly> {
    var found: Set<ListHistory.Anomaly> = []
    if !components([.write]).isEmpty { found.insert(.writeCycle) }
    let informed = components([.write, .read])
    if !informed.isEmpty, found.isEmpty { found.insert(.circularInformation) }
    for component in components([.write, .read, .overtaken]) {
      let members = Set(component)
      let isSingle = component.contains { first in
        edges[first].contains { edge in
          edge.dependency == .overtaken && members.contains(edge.to)
            && reaches(first, from: edge.to, within: members)
        }
      }
      if isSingle {
        found.insert(.singleAntidependency)
      } else if !informed.contains(where: { !members.isDisjoint(with: $0) }) {
        found.insert(.antidependencyCycle)
      }
    }
    return found
  }

  /// Returns whether a path without overtaken reads leads from one transaction to another.
  private func reaches(_ target: Int, from start: Int, within members: Set<Int>) -> Bool {
    var seen: Set = [start]
    var pending = [start]
    while let next = pending.popLast() {
      if next == target { return true }
      for edge in edges[next]
      where edge.dependency != .overtaken && members.contains(edge.to)
        && seen.insert(edge.to).inserted
      {
        pending.append(edge.to)
      }
    }
    return false
  }

  /// Returns the strongly connected components of more than one transaction, by Tarjan's algorithm ("Depth-first search
  /// and linear graph algorithms", 1972), without recursion: a chain may have every transaction.
  private func components(_ kinds: Set<Dependency>) -> [[Int]] {
    var search = ComponentSearch(count: edges.count)
    for start in edges.indices {
      search.visit(start) { edges[$0].filter { kinds.contains($0.dependency) }.map(\.to) }
    }
    return search.components.filter { $0.count > 1 }
  }
}

private struct ComponentSearch {
  private var index: [Int]
  private var low: [Int]
  private var isOpen: [Bool]
  private var open: [Int] = []
  private var next = 1
  private(set) var components: [[Int]] = []

  init(count: Int) {
    index = Array(repeating: 0, count: count)
    low = index
    isOpen = Array(repeating: false, count: count)
  }

  private mutating func enter(_ node: Int) {
    (index[node], low[node]) = (next, next)
    next += 1
    open.append(node)
    isOpen[node] = true
  }

  mutating func visit(_ start: Int, _ successors: (Int) -> [Int]) {
    guard index[start] == 0 else { return }
    enter(start)
    var path = [(node: start, rest: successors(start)[...])]
    while let (node, successorsLeft) = path.popLast() {
      var rest = successorsLeft
      if let following = rest.popFirst() {
        path.append((node, rest))
        if index[following] == 0 {
          enter(following)
          path.append((following, successors(following)[...]))
        } else if isOpen[following] {
          low[node] = min(low[node], index[following])
        }
        continue
      }
      if low[node] == index[node] { close(node) }
      if let parent = path.last?.node { low[parent] = min(low[parent], low[node]) }
    }
  }

  private mutating func close(_ node: Int) {
    var component: [Int] = []
    while let last = open.popLast() {
      isOpen[last] = false
      component.append(last)
      if last == node { break }
    }
    components.append(component)
  }
}
