// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// The paths of a collection's documents, as far as they are recorded.
struct PathCatalog {
  private var types: [FieldPath: ObservedTypes] = [:]
  private let isComplete: Bool

  init(_ observed: [ObservedPath]) {
    for path in observed { types[path.field, default: []].formUnion(path.types) }
    isComplete = observed.isComplete(names: types.keys.count { $0.components.count == 1 })
  }

  /// Returns whether a document may have had a value at a path, also if it is not recorded.
  ///
  /// - Parameter type: The types of the value; any if nil.
  func mayContain(_ path: FieldPath, as type: ObservedTypes? = nil) -> Bool {
    // The elements of a list are recorded without their positions. A number can also be the name of an entry.
    let open = path.withoutPositions
    return mayHave(path, type) || open.map { mayHave($0, type) } ?? false
  }

  private func mayHave(_ path: FieldPath, _ type: ObservedTypes?) -> Bool {
    // New types of a path are recorded even if new paths are not.
    if let known = types[path] { return type.map { !known.isDisjoint(with: $0) } ?? true }
    let parents = path.components.indices.dropFirst().compactMap { end in
      types[FieldPath(components: Array(path.components[..<end]))]
    }
    // An object whose names are not all recorded is open, except the document itself.
    return parents.contains { $0.contains(.open) } || parents.isEmpty && !isComplete
  }
}

extension FieldPath {
  /// The path with all elements of the lists in place of single ones; nil if it names no element.
  var withoutPositions: FieldPath? {
    let steps = steps
    let names = components.indices.filter { steps[$0].index == nil && !isElement(at: $0) }
    guard names.count < components.count, !names.isEmpty else { return nil }
    return FieldPath(
      names.map { Name(text: components[$0], isQuoted: isQuotedNumber($0)) })
  }

  /// Whether the last component names an element of a list.
  var endsWithElement: Bool {
    let last = components.count - 1
    return steps[last].index != nil || isElement(at: last)
  }

  private func isElement(at position: Int) -> Bool {
    components[position].hasSameBytes(as: FieldPath.element.components[0])
  }
}
