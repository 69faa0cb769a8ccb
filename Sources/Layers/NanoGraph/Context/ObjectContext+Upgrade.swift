// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoModel
import NanoStoreCore

/// Upgrading all documents of older versions. Objects are upgraded individually when they are read.
extension ObjectContext {
  /// Rewrites all documents of a class that an older version wrote, and returns their number; see
  /// ``ModelCollection/upgrade(batch:progress:)-(_,((UpgradeProgress)throws->Void)?)``.
  ///
  /// The upgrade runs in batches, each in its own transaction, in constant memory. It can be
  /// repeated after an error or a crash. Objects without unsaved changes are reloaded at the next
  /// access.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if objects of the class have unsaved changes,
  ///   and the errors of upgrades.
  @discardableResult
  public func upgrade<Object: GraphObject>(
    _ type: Object.Type, batch: Int = 1_000,
    progress: ((UpgradeProgress) throws -> Void)? = nil
  ) throws -> Int {
    let table = table(type)
    guard table.counts.isEmpty else {
      throw StoreError(
        .invalidArgument, "A class with unsaved objects cannot be upgraded",
        [.collection: type.collectionName, .hint: "save them first"])
    }
    defer { refreshAll() }
    return try models(type).upgrade(batch: batch, progress: progress)
  }

  /// Rewrites the documents of all registered classes that older versions wrote, and returns their
  /// number.
  @discardableResult
  public func upgradeAll(
    batch: Int = 1_000, progress: ((UpgradeProgress) throws -> Void)? = nil
  ) throws -> Int {
    try allTables.reduce(0) { count, table in
      try count + upgrade(table.type, batch: batch, progress: progress)
    }
  }
}
