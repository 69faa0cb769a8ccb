// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// Documents of a diagram, each once, with the paths of the references.
struct GraphNodes {
  private struct Node {
    var collection: String
    var document: Document
    var paths: [String]
  }
  private var nodes: [Node] = []
  /// Whether there are more than the limit.
  private(set) var hasMore = false
  private let limit: Int
  private let center: String?

  /// - Parameter center: The key of the document in the center, which says nothing about the others.
  init(limit: Int, center: String?) {
    self.limit = limit
    self.center = center
  }

  mutating func add(_ document: Document, of collection: String, path: String) {
    let known = nodes.firstIndex {
      $0.document.rowID == document.rowID && $0.collection.hasSameBytes(as: collection)
    }
    if let known {
      if !nodes[known].paths.contains(where: { $0.hasSameBytes(as: path) }) {
        nodes[known].paths.append(path)
      }
    } else if nodes.count < limit {
      nodes.append(Node(collection: collection, document: document, paths: [path]))
    } else {
      hasMore = true
    }
  }

  var wire: Wire {
    .array(
      nodes.map { node in
        var fields = Self.fields(node.document, of: node.collection, not: center)
        fields.append((name: "paths", value: .strings(node.paths)))
        return .fields(fields)
      })
  }

  /// What a diagram shows of a document.
  static func fields(
    _ document: Document, of collection: String, not center: String? = nil
  ) -> [(name: String, value: Wire)] {
    [
      ("collection", .string(collection)),
      ("rowID", .optional(document.rowID.map(String.init))), ("key", .optional(document.key)),
      ("label", .string(label(of: document, not: center))),
    ]
  }

  /// Returns the key, or for a generated or missing one, the first text of the document, or the row ID.
  private static func label(of document: Document, not center: String?) -> String {
    if let key = document.key, !isGenerated(key) { return String(key.prefix(maximumLabel)) }
    let text = (try? document.object())?.lazy.compactMap { $0.value.string }.first {
      !$0.isEmpty && !center.hasSameBytes(as: $0)
    }
    return text.map { String($0.prefix(maximumLabel)) } ?? document.key
      ?? document.rowID.map { "Row \($0)" } ?? ""
  }

  private static let maximumLabel = 100

  /// Whether a key looks like a UUID.
  private static func isGenerated(_ key: String) -> Bool {
    key.utf8.count == 36 && key.split(separator: "-").map(\.utf8.count) == [8, 4, 4, 4, 12]
  }
}
