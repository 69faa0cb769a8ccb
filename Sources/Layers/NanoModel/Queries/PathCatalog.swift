// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
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
    // New types of a path are recorded even if new paths are not.
    if let known = types[path] { return type.map { !known.isDisjoint(with: $0) } ?? true }
    let parents = path.components.indices.dropFirst().compactMap { end in
      types[FieldPath(components: Array(path.components[..<end]))]
    }
    // An object whose names are not all recorded is open, except the document itself.
    return parents.contains { $0.contains(.open) } || parents.isEmpty && !isComplete
  }
}
