// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument
import NanoEngine
import NanoQuery

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
  ) throws -> Int {
    try update(FieldChanges(set: set, remove: remove))
  }
  /// The asynchronous form of `update(set:remove:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Int {
    let changes = FieldChanges(set: set, remove: remove)
    return try await onWriter { try $0.update(changes) }
  }

  /// Applies stored changes to all matching documents; see ``update(set:remove:)-(_,_)``.
  @discardableResult
  public func update(_ changes: FieldChanges) throws -> Int {
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
      return try found.count { rowID, revision in
        try collection.update(.rowID(rowID), engine, ofQuery: (query, revision)) {
          try changes.apply(to: &$0)
        } != nil
      }
    }
  }
  /// The asynchronous form of `update(_:)`, which does not block the calling thread.
  @discardableResult
  public func update(_ changes: FieldChanges) async throws -> Int {
    try await onWriter { try $0.update(changes) }
  }
}
