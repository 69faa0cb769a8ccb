// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// The progress of upgrading a collection.
public struct UpgradeProgress: Sendable, Hashable {
  /// The number of documents that were rewritten.
  public let done: Int
  /// The number of documents to rewrite when the upgrade began.
  public let total: Int
}

extension ModelCollection {
  /// Rewrites all documents of older versions, with fields under former names, or with decimals that
  /// earlier versions of the library stored as text, and returns their number.
  ///
  /// Reading upgrades documents in any case. Rewriting them lets indexes find them by the new
  /// fields, and lets you remove an upgrade from the program. Each batch is a transaction, so that
  /// other writers can proceed in between and memory use is bounded. After an error or a crash,
  /// call this method again: upgraded documents stay upgraded.
  ///
  /// - Parameters:
  ///   - batch: The number of documents per transaction.
  ///   - progress: Called after each transaction; an error that it throws ends the upgrade.
  /// - Throws: The errors of upgrades with the document, and ``StoreError``. Completed batches are
  ///   kept.
  @discardableResult
  public func upgrade(
    batch: Int = 1_000, progress: ((UpgradeProgress) throws -> Void)? = nil
  ) throws -> Int {
    var cursor = UpgradeCursor(total: try outdated().count())
    while try upgradeNext(batch, &cursor) { try progress?(cursor.progress) }
    return cursor.done
  }

  /// The asynchronous form of `upgrade(batch:progress:)`, which does not block the calling thread.
  @discardableResult
  public func upgrade(
    batch: Int = 1_000, progress: (@Sendable (UpgradeProgress) throws -> Void)? = nil
  ) async throws -> Int {
    var cursor = UpgradeCursor(total: try await documents.onReader { try self.outdated().count() })
    while true {
      let before = cursor
      let (after, hasMore) = try await documents.onWriter {
        var cursor = before
        let hasMore = try self.upgradeNext(batch, &cursor)
        return (cursor, hasMore)
      }
      cursor = after
      guard hasMore else { return cursor.done }
      try progress?(cursor.progress)
    }
  }

  /// The documents that this version of the model would write differently.
  private func outdated() throws -> DocumentQuery {
    var conditions = M.conditionsOfFormerVersions
    // The key is no field, whatever its property was called before.
    for field in M.modelFields where !field.traits.contains(.key) {
      conditions += field.formerNames.map { .exists(FieldPath(components: [$0])) }
    }
    if M.fieldTable.mayHoldDecimals {
      let paths = try documents.observedPaths()
      let nested = Set(paths.map(\.field)).filter { $0.components.count > 1 && M.isFormer($0) }
      conditions += nested.map { .exists($0) }
      conditions += paths.holdingText(of: Set(paths.map(\.field).filter(M.holdsDecimals)))
        .map { .isText($0) }
    }
    return documents.find(.any(conditions)).withoutFieldCheck
  }

  /// Upgrades the next batch in row ID order, and returns whether there were any documents.
  private func upgradeNext(_ batch: Int, _ cursor: inout UpgradeCursor) throws -> Bool {
    let decoder = decoder
    var after = cursor
    let found = try store.write {
      let documents = try outdated().after(after.position).limit(max(1, batch)).fetch()
      for document in documents {
        try replace(try decoder.value(document), document.header)
        after.position = PagePosition(values: [], rowID: document.rowID ?? 0)
        after.done += 1
      }
      return !documents.isEmpty
    }
    cursor = after
    return found
  }
}

extension Model {
  /// Returns whether a path leads through a property's former name, in this model or in a nested one.
  fileprivate static func isFormer(_ path: FieldPath) -> Bool { isFormer(path.components[...]) }

  private static func isFormer(_ components: ArraySlice<String>) -> Bool {
    guard let name = components.first else { return false }
    return fieldTable.fields.contains { field in
      guard let step = field.location.steps.first else { return false }
      if step.formerNames.contains(where: { $0.hasSameBytes(as: name) }) { return true }
      guard step.name.hasSameBytes(as: name) else { return false }
      // The entries of a dictionary have names of their own.
      if let entry = step.entry { return entry.isFormer(components.dropFirst(2)) }
      return step.nested?.isFormer(components.dropFirst()) ?? false
    }
  }
}

extension Model {
  /// Returns where older documents can have the property at a path.
  static func formerPaths(of path: FieldPath) -> [FieldPath] {
    let all = paths(of: path.components[...]).map { FieldPath(components: $0) }
    return all.filter { $0 != path }
  }

  private static func paths(of components: ArraySlice<String>) -> [[String]] {
    guard let name = components.first else { return [[]] }
    guard
      let step = fieldTable.fields.lazy.compactMap(\.location.steps.first)
        .first(where: { $0.name.hasSameBytes(as: name) })
    else { return [Array(components)] }
    let rest = components.dropFirst()
    let ends = step.nested.map { $0.paths(of: rest) } ?? [Array(rest)]
    return ([step.name] + step.formerNames).flatMap { name in ends.map { [name] + $0 } }
  }
}

/// The position of an upgrade in its collection.
private struct UpgradeCursor: Sendable {
  let total: Int
  var done = 0
  var position: PagePosition?

  init(total: Int) { self.total = total }

  var progress: UpgradeProgress {
    UpgradeProgress(done: done, total: max(total, done))
  }
}

extension Model {
  /// The conditions of which a document of a former version satisfies one.
  static var conditionsOfFormerVersions: [Condition] {
    guard modelVersion > 1 else { return [] }
    let version = QueryExpression.attribute(.version)
    return [
      .isNull(version), .comparison(version, .less, .value(.int(Int64(modelVersion)))),
    ]
  }
}
