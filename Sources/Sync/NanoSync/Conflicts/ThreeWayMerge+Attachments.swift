// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

extension ThreeWayMerge {
  /// Merges attachments by name: one that only one side added, replaced or removed is as on that side.
  ///
  /// - Parameter base: Empty if it is not known; then nothing counts as removed.
  /// - Returns: The attachments in the order of the winner, those of the other side without a generation, and the fields
  ///   of those that both sides changed differently, which are the winner's.
  static func attachments(
    base: [SyncAttachment], winner: [SyncAttachment], other: [SyncAttachment]
  ) -> (merged: [SyncAttachment], overridden: [FieldPath]) {
    var merged: [SyncAttachment] = []
    var overridden: [FieldPath] = []
    let added = other.filter { winner.named($0.name) == nil }
    for name in (winner + added).map(\.name) {
      let (former, own, others) = (base.named(name), winner.named(name), other.named(name))
      if isSame(own, others) || isSame(others, former) {
        if let own { merged.append(own) }
      } else if isSame(own, former) {
        guard var others else { continue }
        // It comes in with the merged revision: peers expect those of former generations in the winner.
        others.generation = 0
        merged.append(others)
      } else {
        // The field that refers to the content differs too, and is reported.
        if !ReferencedContent.isName(name) {
          overridden.append(FieldPath(components: [Attachment.field, name]))
        }
        if let own { merged.append(own) }
      }
    }
    return (merged, overridden)
  }

  /// Whether two attachments have the same type and content, or neither exists.
  private static func isSame(_ a: SyncAttachment?, _ b: SyncAttachment?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.contentType.hasSameBytes(as: b.contentType)
      && (a.hasDigest(b.digest) || b.hasDigest(a.digest))
  }
}

extension [SyncAttachment] {
  fileprivate func named(_ name: String) -> SyncAttachment? {
    first { $0.name.hasSameBytes(as: name) }
  }
}
