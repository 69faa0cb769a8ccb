// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument
import NanoEngine
public import NanoQuery

extension DocumentQuery {
  /// Deletes the matching documents and returns how many there were.
  @discardableResult
  public func delete() throws -> Int {
    try validate()
    return try collection.writing { try collection.remove(query, $0) }
  }
  /// The asynchronous form of `delete()`, which does not block the calling thread.
  @discardableResult
  public func delete() async throws -> Int { try await onWriter { try $0.delete() } }

  /// Changes some fields of all matching documents in one transaction, and returns their number.
  @discardableResult
  public func update(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) throws -> Int { try update(FieldChange.list(set, remove)) }
  /// The asynchronous form of `update(set:remove:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Int { try await update(FieldChange.list(set, remove)) }

  /// Changes fields of all matching documents with update operators, in one transaction, and returns
  /// their number.
  ///
  /// ```swift
  /// try films.find("[year] < ?", 1980).update(.addToSet("tags", "classic"), .increment("views"))
  /// ```
  ///
  /// - Throws: The errors of the operators; see
  ///   ``DocumentCollection/update(_:_:upsert:)-(_,FieldChange...,_)``. No document was changed.
  @discardableResult
  public func update(_ changes: FieldChange...) throws -> Int { try update(changes) }
  /// The asynchronous form of `update(_:)`, which does not block the calling thread.
  @discardableResult
  public func update(_ changes: FieldChange...) async throws -> Int { try await update(changes) }

  /// Changes fields of all matching documents with an array of update operators; see
  /// ``update(_:)-(FieldChange...)``.
  @discardableResult
  public func update(_ changes: [FieldChange]) throws -> Int {
    try validate()
    try InternalCollection.refuse(collection.name)
    return try collection.writing(atomic: true) { engine in
      // All row IDs are collected before the first change, so that no document is found again in
      // its changed form.
      var found: [(rowID: Int64, revision: Int64?)] = []
      try engine.find(identities.query, in: collection.name) { stored in
        found.append((stored.rowID, stored.revision))
        return true
      }
      let update = BulkUpdate(collection, query, try DocumentUpdate(changes), engine)
      return try update.apply(to: found)
    }
  }

  /// The asynchronous form of `update(_:)`, which does not block the calling thread.
  @discardableResult
  public func update(_ changes: [FieldChange]) async throws -> Int {
    try await onWriter { try $0.update(changes) }
  }
}
