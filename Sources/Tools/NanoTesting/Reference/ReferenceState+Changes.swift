// SPDX-License-Identifier: MIT

import NanoEngine

extension ReferenceState {
  /// Returns the changes since an earlier state.
  func changes(since before: ReferenceState) -> [Change] {
    Set(collections.keys).union(before.collections.keys).sorted().compactMap { name in
      let (old, new) = (before.collections[name], collections[name])
      guard let description = (new ?? old)?.description else { return nil }
      // Defaults affect the results of queries.
      if let old, let new, old.settings != new.settings { return Change(description.name, nil) }
      let rows = Self.rows(from: old?.documents ?? [], to: new?.documents ?? [])
      return rows.isEmpty ? nil : Change(description.name, rows)
    }
  }

  private static func rows(
    from old: [ReferenceDocument], to new: [ReferenceDocument]
  ) -> [Int64: Change.Kind] {
    let before = Dictionary(uniqueKeysWithValues: old.map { ($0.rowID, $0) })
    var rows = before.mapValues { _ in Change.Kind.deleted }
    for document in new {
      switch before[document.rowID] {
      case nil: rows[document.rowID] = .inserted
      case let previous? where previous.isIdentical(to: document): rows[document.rowID] = nil
      default: rows[document.rowID] = .updated
      }
    }
    return rows
  }
}

extension ReferenceDocument {
  fileprivate func isIdentical(to other: ReferenceDocument) -> Bool {
    key == other.key && type.hasSameBytes(as: other.type) && version == other.version
      && added == other.added
      && revision == other.revision && body == other.body
  }
}
