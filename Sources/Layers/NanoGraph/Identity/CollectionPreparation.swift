// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// The collection and the indexes that a class and its relationships need. It can be run on any
/// thread.
struct CollectionPreparation: Sendable {
  let documents: DocumentCollection
  let hasKey: Bool
  /// Whether there can be objects in memory with revisions.
  let hasLoadedObjects: Bool
  let indexes: [IndexDefinition]
  /// The value of ``Store/droppedDefinitions`` for which the preparation is valid.
  let epoch: Int
  let prepareModel: @Sendable () throws -> Void

  /// Creates what is missing.
  ///
  /// - Returns: The amount by which the revisions of all documents increased. Creating a blind index
  ///   on encrypted documents rewrites each of them with unchanged content, which must not make
  ///   loaded objects appear outdated.
  func run() throws -> Int64 {
    let former = try formerRevision()
    do {
      // Objects are identified by row ID; keys would add a second index.
      if !hasKey { try documents.store.createCollection(documents.name, identity: .rowID) }
    } catch let error as StoreError where error.code == .alreadyExists {
      // The existing collection has keys, which are kept.
    }
    try prepareModel()
    for index in indexes {
      do {
        try documents.createIndex(index)
      } catch let error as StoreError where error.code == .unsupported {
        // Encrypted documents do not support the index. Owners are found without it, only more
        // slowly.
      }
    }
    guard let former else { return 0 }
    let revision = try documents.contentVersion(rowID: former.rowID)?.revision
    return (revision ?? former.revision) - former.revision
  }

  /// Returns the revision of any document of the class, or nil if no object in memory has a
  /// revision.
  private func formerRevision() throws -> (rowID: Int64, revision: Int64)? {
    guard hasLoadedObjects, let id = try documents.find().limit(1).rowIDs().first else {
      return nil
    }
    return try documents.contentVersion(rowID: id).map { (id, $0.revision) }
  }
}
