// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// How far an upgrade of a whole collection has come.
public struct UpgradeProgress: Sendable, Hashable {
  /// Documents that were written anew.
  public let done: Int
  /// Documents that there were to write when it began.
  public let total: Int
}

extension ModelCollection {
  /// Writes every document anew that is of an older version or has fields under former names, and says how
  /// many.
  ///
  /// Reading upgrades documents by itself; this is for indexes to find them by the new fields, and for
  /// dropping an upgrade from the program. It works in transactions of so many documents, so that others
  /// write in between and little memory is used. After an error or a killed process, call it again: what was
  /// upgraded stays so.
  ///
  /// - Parameters:
  ///   - batch: Documents for each transaction.
  ///   - progress: Called after each of them; what it throws ends the upgrade.
  /// - Throws: What an upgrade throws, with the document, and ``StoreError``. The batches before are kept.
  @discardableResult
  public func upgrade(
    batch: Int = 1_000, progress: ((UpgradeProgress) throws -> Void)? = nil
  ) throws -> Int {
    var walk = UpgradeWalk(total: try outdated.count())
    while try upgradeNext(batch, &walk) { try progress?(walk.progress) }
    return walk.done
  }

  @discardableResult
  public func upgrade(
    batch: Int = 1_000, progress: (@Sendable (UpgradeProgress) throws -> Void)? = nil
  ) async throws -> Int {
    var walk = UpgradeWalk(total: try await documents.onReader { try self.outdated.count() })
    while true {
      let before = walk
      let (after, goesOn) = try await documents.onWriter {
        var walk = before
        let goesOn = try self.upgradeNext(batch, &walk)
        return (walk, goesOn)
      }
      walk = after
      guard goesOn else { return walk.done }
      try progress?(walk.progress)
    }
  }

  /// Documents that are not as this version writes them.
  private var outdated: DocumentQuery {
    var conditions: [Condition] = []
    if M.modelVersion > 1 {
      let version = QueryExpression.attribute(.version)
      conditions.append(.isNull(version))
      conditions.append(.comparison(version, .less, .value(.int(Int64(M.modelVersion)))))
    }
    for field in M.modelFields {
      conditions += field.formerNames.map { .exists(FieldPath(components: [$0])) }
    }
    return documents.find(.any(conditions)).withoutFieldCheck
  }

  /// Upgrades the next documents by row id, and says whether there were any.
  private func upgradeNext(_ batch: Int, _ walk: inout UpgradeWalk) throws -> Bool {
    let decoder = decoder
    var after = walk
    let found = try store.write {
      let documents = try outdated.after(after.position).limit(max(1, batch)).fetch()
      for document in documents {
        try replace(try decoder.value(document), document.header)
        after.position = PagePosition(values: [], rowID: document.rowID ?? 0)
        after.done += 1
      }
      return !documents.isEmpty
    }
    walk = after
    return found
  }
}

/// The place that an upgrade has come to.
private struct UpgradeWalk: Sendable {
  let total: Int
  var done = 0
  var position: PagePosition?

  init(total: Int) { self.total = total }

  var progress: UpgradeProgress {
    UpgradeProgress(done: done, total: max(total, done))
  }
}
