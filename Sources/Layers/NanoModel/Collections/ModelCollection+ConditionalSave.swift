// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// Conditional saves (compare-and-set): the document is replaced only if it is unchanged since it
/// was read.
extension ModelCollection {
  /// Replaces the document with the key of a value if it still has the given revision.
  ///
  /// ```swift
  /// guard let ada = try people.getStored("ada") else { return }
  /// var person = ada.value
  /// person.age += 1
  /// try people.save(person, ifRevision: ada.revision)   // throws revisionConflict after another write
  /// ```
  ///
  /// - Parameter revision: The ``Stored/revision`` that the value was read with. An unknown
  ///   revision, nil, never matches.
  /// - Returns: The value with its new revision.
  /// - Throws: ``StoreError/Code/revisionConflict`` with both revisions,
  ///   ``StoreError/Code/notFound`` if the document was deleted,
  ///   ``StoreError/Code/invalidArgument`` if the value has no key, and storage errors. Nothing was
  ///   stored.
  @discardableResult
  public func save(_ value: M, ifRevision revision: Int64?) throws -> Stored<M> {
    guard let key = try value.documentKey else {
      throw StoreError(
        .invalidArgument, "A value without a key cannot replace a document",
        [.collection: name, .hint: "save a result of getStored or stored()"])
    }
    return try save(value, Document.Header(collection: name, key: key), revision)
  }

  /// Replaces the document that a value was read from if it still has the given revision.
  ///
  /// ```swift
  /// var ada = try people.find(\.firstName == "Ada").firstStored()!
  /// ada.age += 1
  /// ada = try people.save(ada, ifRevision: ada.revision)   // has the new revision
  /// ```
  ///
  /// - Throws: The errors of ``save(_:ifRevision:)-(M,_)``; ``StoreError/Code/invalidArgument`` if
  ///   the value's key was changed.
  @discardableResult
  public func save(_ stored: Stored<M>, ifRevision revision: Int64?) throws -> Stored<M> {
    if let key = try stored.value.documentKey, key != stored.header.key {
      throw Self.keyMismatch(name)
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
  /// The asynchronous form of `save(_:ifRevision:)`, which does not block the calling thread.
  @discardableResult
  public func save(
    _ value: sending M, ifRevision revision: Int64?
  ) async throws -> sending Stored<M> {
    try await documents.onWriter(sending: value) { try self.save($0, ifRevision: revision) }
  }
  /// The asynchronous form of `save(_:ifRevision:)` for a stored value, which does not block the
  /// calling thread.
  @discardableResult
  public func save(
    _ stored: sending Stored<M>, ifRevision revision: Int64?
  ) async throws -> sending Stored<M> {
    try await documents.onWriter(sending: stored) { try self.save($0, ifRevision: revision) }
  }
}
