// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore
import Synchronization

extension ModelCollection {
  /// Makes the indexes that the model declares and that are not there yet.
  ///
  /// The first write through a model does so by itself; call it where that would come at a bad time, for
  /// a large collection of an earlier program. Indexes that the model no longer declares stay; see
  /// `dropUndeclaredIndexes()`.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` if documents have the same values of a property that is
  ///   to be unique, with the index and the documents. None of the missing indexes was made then.
  public func prepare() throws {
    let declared = try declaredIndexes
    let texts = M.modelFields.filter { $0.traits.contains(.textIndexed) }
      .map { "\(FieldPath(components: [$0.name]))" }
    guard !declared.isEmpty || !texts.isEmpty else { return }
    try store.write {
      for index in declared { try documents.createIndex(index) }
      if !texts.isEmpty { try documents.createTextIndex(fields: texts) }
    }
  }

  public func prepare() async throws { try await documents.onWriter { try self.prepare() } }

  /// Drops indexes that were declared by a model, or by hand, and are not declared by this one, and says
  /// how many.
  @discardableResult
  public func dropUndeclaredIndexes() throws -> Int {
    let declared = Set(try declaredIndexes.map { ExactName($0.name) })
    return try store.write {
      let extra = try documents.indexes().filter {
        $0.origin == .declared && !declared.contains(ExactName($0.name))
      }
      for index in extra { try documents.dropIndex(index.name) }
      return extra.count
    }
  }

  @discardableResult
  public func dropUndeclaredIndexes() async throws -> Int {
    try await documents.onWriter { try self.dropUndeclaredIndexes() }
  }

  /// Those of single properties, and those that the type lists.
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

  /// Before the first write of this program to the collection.
  @usableFromInline
  func prepareIfNeeded() throws {
    let prepared = store.companion { PreparedCollections() }
    let drops = store.droppedDefinitions
    guard !prepared.contains(M.self, name, drops) else { return }
    try prepare()
    prepared.insert(M.self, name, drops)
  }
}

/// The collections of a store whose indexes this program has seen to, as long as nothing was dropped since.
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
