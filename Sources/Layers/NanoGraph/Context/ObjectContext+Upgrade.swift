// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoModel
import NanoStoreCore

/// Upgrading documents of older versions of the classes. Objects are upgraded when they are read; this is for
/// all at once.
extension ObjectContext {
  /// Writes every document of a class anew that is of an older version, and says how many; see
  /// ``ModelCollection/upgrade(batch:progress:)-(_,((UpgradeProgress)throws->Void)?)``.
  ///
  /// It works in transactions of so many documents, in constant memory, and may be called again after an error
  /// or a killed process. Objects without unsaved changes are loaded anew when they are looked at.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if objects of the class have unsaved changes, and what an
  ///   upgrade throws.
  @discardableResult
  public func upgrade<Object: GraphObject>(
    _ type: Object.Type, batch: Int = 1_000,
    progress: ((UpgradeProgress) throws -> Void)? = nil
  ) throws -> Int {
    let table = table(type)
    guard table.counts.isEmpty else {
      throw StoreError(
        .invalidArgument, "Objects of a class that is to be upgraded have unsaved changes",
        [.collection: type.collectionName, .hint: "save them first"])
    }
    defer { refreshAll() }
    return try models(type).upgrade(batch: batch, progress: progress)
  }

  /// The same for every class that the context knows.
  @discardableResult
  public func upgradeAll(
    batch: Int = 1_000, progress: ((UpgradeProgress) throws -> Void)? = nil
  ) throws -> Int {
    try allTables.reduce(0) { count, table in
      try count + upgrade(table.type, batch: batch, progress: progress)
    }
  }
}
