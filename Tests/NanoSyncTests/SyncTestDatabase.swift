// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

/// Returns the database of a collection in a new store.
func anyDatabase(_ name: String = "films") throws -> SyncDatabase {
  let database = try SyncDatabase(anyStore()[name])
  try database.enable()
  return database
}

extension SyncDatabase {
  /// The winning revision as text.
  func revision(_ id: String) throws -> String? {
    try revisions([id])[id]?.tree.winner?.id.description
  }

  func leaves(_ id: String) throws -> [String] {
    try revisions([id])[id]?.leaves.map { "\($0.id)\($0.isDeleted ? " deleted" : "")" } ?? []
  }

  /// Stores documents as JSON, as another program sends them.
  @discardableResult
  func replicate(json documents: String...) throws -> [WriteFailure] {
    try replicate(
      try documents.map { text in
        let wire = try WireDocument(SyncJSON.object(Array(text.utf8)))
        return try wire.document(attachments: wire.attachments.map(\.stub))
      })
  }

  /// All leaves with their content, as text in a fixed order.
  func contents() throws -> [String] {
    var ids: [String] = []
    var position: RevisionChange.Sequence?
    while true {
      let page = try changes(since: position, limit: 1_000)
      ids += page.changes.map(\.id)
      position = page.last
      if !page.hasMore { break }
    }
    let found = try revisions(ids)
    let exact = Set(ids.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
    return exact.map { String(decoding: $0, as: UTF8.self) }.flatMap { id in
      (found[id]?.leaves ?? []).map { leaf in
        String(
          decoding: found[id]?[leaf.id]?.json(WireOptions(hasHistory: true)) ?? [], as: UTF8.self)
      }
    }
  }
}

func hash(_ letter: Character) -> String { String(repeating: letter, count: 32) }
