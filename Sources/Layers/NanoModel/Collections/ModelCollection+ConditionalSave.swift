// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// Saving only if the document is unchanged since it was read (compare-and-set).
extension ModelCollection {
  /// Stores a value in place of the document with its key, if the document still has this revision.
  ///
  /// ```swift
  /// guard let ada = try people.getStored("ada") else { return }
  /// var person = ada.value
  /// person.age += 1
  /// try people.save(person, ifRevision: ada.revision)      // throws revisionConflict if another write came between
  /// ```
  ///
  /// - Parameter revision: What ``Stored/revision`` was when the value was read. An unknown revision, nil, is no
  ///   condition that holds.
  /// - Returns: The value as it is stored, with its new revision.
  /// - Throws: ``StoreError/Code/revisionConflict`` with both revisions, ``StoreError/Code/notFound`` if the
  ///   document was deleted, ``StoreError/Code/invalidArgument`` for a value without a key, and others.
  ///   Nothing was stored.
  @discardableResult
  public func save(_ value: M, ifRevision revision: Int64?) throws -> Stored<M> {
    guard let key = try value.documentKey else {
      throw StoreError(
        .invalidArgument, "A value without a key replaces no document",
        [.collection: name, .hint: "save what getStored or stored() returned"])
    }
    return try save(value, Document.Header(collection: name, key: key), revision)
  }

  /// Stores a changed value in place of the document that it was read from, if the document still has this
  /// revision.
  ///
  /// ```swift
  /// var ada = try people.find(\.firstName == "Ada").firstStored()!
  /// ada.age += 1
  /// ada = try people.save(ada, ifRevision: ada.revision)   // and again with the new revision
  /// ```
  ///
  /// - Throws: As ``save(_:ifRevision:)-(M,_)``; ``StoreError/Code/invalidArgument`` if the key that the value says is
  ///   another one now.
  @discardableResult
  public func save(_ stored: Stored<M>, ifRevision revision: Int64?) throws -> Stored<M> {
    if let key = try stored.value.documentKey, key != stored.header.key {
      throw Self.otherKey(name)
    }
    return try save(stored.value, stored.header, revision)
  }

  private func save(
    _ value: M, _ header: Document.Header, _ revision: Int64?
  ) throws -> Stored<M> {
    try prepareIfNeeded()
    let document = try documents.replace(document(value, header), ifRevision: revision)
    return Stored(value, document.header)
  }
}

extension ModelCollection {
  @discardableResult
  public func save(
    _ value: sending M, ifRevision revision: Int64?
  ) async throws -> sending Stored<M> {
    try await documents.onWriter(handing: value) { try self.save($0, ifRevision: revision) }
  }
  @discardableResult
  public func save(
    _ stored: sending Stored<M>, ifRevision revision: Int64?
  ) async throws -> sending Stored<M> {
    try await documents.onWriter(handing: stored) { try self.save($0, ifRevision: revision) }
  }
}
