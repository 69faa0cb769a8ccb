// SPDX-License-Identifier: MIT

import NanoDocument

/// The values at a path are among those of related documents that have been read.
final class RelatedNode: MatcherNode {
  let path: BytePath
  let related: RelatedCondition

  init(_ path: BytePath, _ related: RelatedCondition) {
    self.path = path
    self.related = related
  }

  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool {
    var values: [DocumentValue] = []
    _ = try document.values(path) { (reader) throws(StoreError) in
      var reader = reader
      values.append(try reader.value())
      return false
    }
    return try related.holds(for: values)
  }
}
