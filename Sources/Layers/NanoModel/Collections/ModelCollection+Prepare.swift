// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore
import Synchronization

extension ModelCollection {
  /// Creates the missing indexes that the model declares, and applies its expiration.
  ///
  /// The first write through a model calls this method. Call it yourself to choose when the indexes
  /// of a large existing collection are built. Indexes that the model no longer declares are kept;
  /// see `dropUndeclaredIndexes()`. If documents store unique values under former names, or unique
  /// decimals as text, as earlier versions of the library did, this method calls `upgrade(batch:progress:)` first.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` with the index and the documents if existing
  ///   documents have the same value of a unique property, and the errors of upgrades. In that case,
  ///   none of the missing indexes is created.
  public func prepare() throws {
    let declared = try declaredIndexes
    let text = M.textIndex
    guard !declared.isEmpty || text != nil || M.expirationRule != nil else { return }
    try upgradeUniqueValues(declared)
    try store.write {
      for index in declared { try documents.createIndex(index) }
      if let text {
        try documents.createFullTextIndex(
          fields: text.fields.map(\.description), name: text.name)
      }
      try prepareExpiration()
    }
  }

  /// Rewrites documents with unique values under former names, and with unique decimals that are stored as text: a
  /// unique index sees neither.
  private func upgradeUniqueValues(_ indexes: [IndexDefinition]) throws {
    let unique = Set(indexes.filter(\.isUnique).flatMap(\.columns).map(\.path))
    let (former, decimals) = (
      unique.flatMap { M.formerPaths(of: $0) }, unique.filter { M.holdsDecimals($0) }
    )
    guard !former.isEmpty || !decimals.isEmpty else { return }
    let observed = try documents.observedPaths()
    let catalog = PathCatalog(observed)
    let conditions =
      former.filter { catalog.mayContain($0) }.map { Condition.exists($0) }
      + observed.holdingText(of: decimals).map { .isText($0) }
    guard !conditions.isEmpty else { return }
    if try documents.find(.any(conditions)).withoutFieldCheck.exists() { try upgrade() }
  }

  /// The asynchronous form of ``prepare()``, which does not block the calling thread.
  public func prepare() async throws { try await documents.onWriter { try self.prepare() } }

  /// Drops the declared indexes that this model does not declare, and returns their number.
  ///
  /// These are indexes created by another model, by an earlier version of this one, or with
  /// `createIndex` or `createFullTextIndex`. Indexes that the store created by itself are kept.
  @discardableResult
  public func dropUndeclaredIndexes() throws -> Int {
    let declared = Set(try declaredIndexes.map { ExactName($0.name) })
    return try store.write {
      let extra = try documents.indexes().filter {
        $0.origin == .declared && !declared.contains(ExactName($0.name))
      }
      for index in extra { try documents.dropIndex(index.name) }
      let texts = try documents.fullTextIndexes().filter {
        !($0.name.hasSameBytes(as: M.textIndex?.name ?? ""))
      }
      for index in texts { try documents.dropIndex(index.name) }
      return extra.count + texts.count
    }
  }

  /// The asynchronous form of ``dropUndeclaredIndexes()``, which does not block the calling thread.
  @discardableResult
  public func dropUndeclaredIndexes() async throws -> Int {
    try await documents.onWriter { try self.dropUndeclaredIndexes() }
  }

  /// The indexes of single properties, followed by those in the `indexes` of the type.
  private var declaredIndexes: [IndexDefinition] {
    get throws(StoreError) {
      var indexes: [IndexDefinition] = []
      for field in M.modelFields {
        guard !field.traits.isDisjoint(with: [.indexed, .unique]) else { continue }
        indexes.append(
          IndexDefinition(
            columns: [IndexDefinition.Column(FieldPath(components: [field.name]))],
            isUnique: field.traits.contains(.unique), kind: field.isList ? .elements : .fields))
      }
      for index in M.indexes { indexes.append(try index.definition) }
      return indexes
    }
  }

  /// Prepares the collection before the first write of this process through the model.
  @usableFromInline
  func prepareIfNeeded() throws {
    let prepared = store.associatedObject { PreparedCollections() }
    let drops = store.droppedDefinitions
    guard !prepared.contains(M.self, name, drops) else { return }
    try prepare()
    prepared.insert(M.self, name, drops)
  }
}

extension Model {
  /// The index on all properties that are marked with ``TextIndexed()``.
  static var textIndex: FullTextIndexDefinition? {
    let fields = modelFields.filter { $0.traits.contains(.textIndexed) }
    guard !fields.isEmpty else { return nil }
    return FullTextIndexDefinition(fields: fields.map { FieldPath(components: [$0.name]) })
  }
}

/// The collections whose indexes this process has created. An entry is valid until a definition is
/// dropped or the transaction that may have created one is rolled back.
private final class PreparedCollections: Sendable {
  private struct Entry: Hashable {
    let model: ObjectIdentifier
    let name: ExactName
  }
  private let entries = Mutex<[Entry: Int]>([:])

  func contains<M: Model>(_ model: M.Type, _ name: String, _ drops: Int) -> Bool {
    entries.withLock { $0[Entry(model: ObjectIdentifier(model), name: ExactName(name))] == drops }
  }
  func insert<M: Model>(_ model: M.Type, _ name: String, _ drops: Int) {
    entries.withLock { $0[Entry(model: ObjectIdentifier(model), name: ExactName(name))] = drops }
  }
}
