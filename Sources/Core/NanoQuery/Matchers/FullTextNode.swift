// SPDX-License-Identifier: MIT

import NanoDocument

/// A full-text condition evaluated on document texts, without an index.
final class FullTextNode: MatcherNode {
  private let matcher: FullTextMatcher
  private let paths: [FieldPath: BytePath]

  init(_ matcher: FullTextMatcher, _ paths: [FieldPath: BytePath]) {
    self.matcher = matcher
    self.paths = paths
  }

  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool {
    var texts: [FieldPath: [String]] = [:]
    for field in matcher.scope.fields {
      guard let path = paths[field] else { continue }
      var found: [String] = []
      _ = try document.values(path) { (value) throws(StoreError) in
        var value = value
        if value.kind() == .string, let text = try value.value().string { found.append(text) }
        return false
      }
      texts[field] = found
    }
    return matcher.matches { texts[$0] ?? [] }
  }
}
