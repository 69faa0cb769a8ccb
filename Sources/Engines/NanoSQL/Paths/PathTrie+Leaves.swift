// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine
import NanoQuery

extension PathTrie {
  /// Returns the numbers of all nodes whose scalar values a path may reach. A number in the path can address an
  /// element or a name; any element is accepted here.
  package func attributes(at path: FieldPath) -> [Int32] {
    var reached: [Int32] = [Self.root]
    var open: [Int32] = []
    for step in path.steps {
      let name = StoredName(step.name)
      let isIndex = step.index != nil
      var next: [Int32] = []
      for node in reached {
        if isOpen(node) { open.append(node) }
        let child = name.utf8.withUnsafeBytes { find(node, $0) }
        if child >= 0 { addWithElements(child, &next) }
        let element = nodes[Int(node)].element
        if isIndex, element >= 0 { addWithElements(element, &next) }
      }
      reached = next
    }
    open += reached.filter(isOpen)
    let numbers = (reached.filter(hasLeaves) + open).map { nodes[Int($0)].attribute }
    return Set(numbers).sorted()
  }

  private func addWithElements(_ node: Int32, _ reached: inout [Int32]) {
    var node = node
    while node >= 0 {
      if !reached.contains(node) { reached.append(node) }
      node = nodes[Int(node)].element
    }
  }

  /// Returns every node that has scalar values, with its path as in ``Attribute/leafPath``.
  package func leafAttributes() -> [WildcardIndexPath] {
    var found: [WildcardIndexPath] = []
    for node in Int32(0)..<Int32(count) where nodes[Int(node)].attribute != Self.unnumbered {
      if isOpen(node) {
        found.append(WildcardIndexPath(number: nodes[Int(node)].attribute, path: nil))
      } else if hasLeaves(node) {
        found.append(WildcardIndexPath(number: nodes[Int(node)].attribute, path: leafPath(node)))
      }
    }
    return found
  }

  private static let containers = Int32(
    ([.array, .object, .open] as ObservedTypes).rawValue)

  private func hasLeaves(_ node: Int32) -> Bool {
    let types = nodes[Int(node)].types
    return types & ~Self.containers != 0
  }

  /// Whether scalar values below this node, under names that are not tracked, may be indexed here.
  ///
  /// The root's `open` mark is not stored in the file, but the number of paths is. Paths of empty arrays exist
  /// only in memory.
  private func isOpen(_ node: Int32) -> Bool {
    if nodes[Int(node)].types & Int32(ObservedTypes.open.rawValue) != 0 { return true }
    return node == Self.root
      && (nodes[0].childCount >= Self.maximumChildren || count >= Self.maximumPaths / 2)
  }

  private func leafPath(_ node: Int32) -> String {
    var names: [String] = []
    var node = node
    while node > 0 {
      let parent = nodes[Int(node)].parent
      if nodes[Int(parent)].element != node { names.append(plainName(node)) }
      node = parent
    }
    return FieldPath(components: names.reversed()).description
  }

  /// The name as it appears in documents, without the escapes of its stored form.
  private func plainName(_ node: Int32) -> String {
    var reader = JSONReader(quotedName(node))
    return (try? reader.rawName().text) ?? String(decoding: name(node), as: UTF8.self)
  }
}
