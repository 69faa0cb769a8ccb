// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Replaces the existing document with the same key, or with the same row ID if there is no key.
  ///
  /// The fields are replaced as a whole, not merged.
  ///
  /// ```swift
  /// try people.replace(Document(["__rowid__": 1, "name": "Ada"]))
  /// ```
  ///
  /// - Returns: The document as stored.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such document,
  ///   ``StoreError/Code/invalidArgument`` if the given document has neither key nor row ID,
  ///   ``StoreError/Code/partialDocument`` if only some of its fields were read,
  ///   ``StoreError/Code/uniqueViolation``. The stored document is unchanged.
  @discardableResult
  public func replace(_ document: Document) throws -> Document {
    try replace(document, having: nil)
  }
  /// The asynchronous form of `replace(_:)`, which does not block the calling thread.
  @discardableResult
  public func replace(_ document: Document) async throws -> Document {
    try await onWriter { try self.replace(document) }
  }

  /// Replaces an existing document if it still has the given revision (compare-and-set).
  ///
  /// ```swift
  /// guard var ada = try people.get("ada") else { return }
  /// let revision = ada.revision
  /// ada["age"] = 37
  /// try people.replace(ada, ifRevision: revision)     // throws revisionConflict after a concurrent write
  /// ```
  ///
  /// - Parameters:
  ///   - document: The new content, with the key or row ID of the stored document.
  ///   - revision: The ``/NanoDocument/Document/revision`` of the document when it was read. An
  ///     unknown revision, nil, never matches.
  /// - Returns: The document as stored, with its new revision.
  /// - Throws: ``StoreError/Code/revisionConflict`` with both revisions, and the errors of
  ///   ``replace(_:)-(Document)``. The stored document is unchanged. A document that was deleted and
  ///   inserted again has revision 1 again; this is a conflict, too, if the given document was read
  ///   with the given revision from a collection of this name. One that was read from another store
  ///   has its row ID there: pass `Document(try document.object(), key: key)`, which has none.
  @discardableResult
  public func replace(_ document: Document, ifRevision revision: Int64?) throws -> Document {
    try replace(document, having: .some(revision))
  }
  /// The asynchronous form of `replace(_:ifRevision:)`, which does not block the calling thread.
  @discardableResult
  public func replace(
    _ document: Document, ifRevision revision: Int64?
  ) async throws -> Document {
    try await onWriter { try self.replace(document, ifRevision: revision) }
  }

  /// - Parameter expected: The revision that the stored document must have, which may be unknown;
  ///   nil for any.
  private func replace(_ document: Document, having expected: Int64??) throws -> Document {
    guard !document.isPartial else { throw Self.partial }
    try InternalCollection.refuse(name)
    var header = document.header
    guard let identity = header.key.map(Identity.key) ?? header.rowID.map(Identity.rowID) else {
      throw Self.missingIdentity
    }
    var writer = JSONWriter(capacity: 512)
    try document.write(to: &writer)
    try store.checkNames(writer.bytes, key: header.key)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    let body = writer.bytes
    // One that was deleted and inserted again may have the same revision.
    let isAsRead = expected == .some(header.revision) && header.isFrom(name)
    try writing { engine in
      if let expected, expected == nil {
        var actual: Int64?
        guard try engine.get(identity, in: name, { actual = $0.revision }) else {
          throw Self.notFound(identity, name)
        }
        throw Self.revisionConflict(identity, name, expected: nil, actual: actual)
      }
      let replaced = try engine.replace(
        identity,
        with: NewDocument(
          key: header.key, type: header.type, version: header.version,
          added: Clock.microseconds(), rowID: isAsRead ? header.rowID : nil,
          replacedRevision: expected ?? nil, body: body), in: name)
      if replaced {
        // The given document may be from another row, even in this collection: one that had the key before.
        guard identity.isKey else { return }
        (header.rowID, header.added) = (nil, nil)
        try engine.get(identity, in: name) { (header.rowID, header.added) = ($0.rowID, $0.added) }
        return
      }
      var actual: Int64?
      guard expected != nil, try engine.get(identity, in: name, { actual = $0.revision }) else {
        throw Self.notFound(identity, name)
      }
      throw Self.revisionConflict(identity, name, expected: expected ?? nil, actual: actual)
    }
    if !identity.isKey, !header.isFrom(name) { header.added = nil }
    header.collection = name
    // Without a condition, the replaced revision is unknown.
    header.revision = (expected ?? nil).flatMap(\.nextRevision)
    return Document(header, copying: body)
  }

  static func revisionConflict(
    _ identity: Identity, _ collection: String, expected: Int64?, actual: Int64?
  ) -> StoreError {
    let isOther = expected != nil && expected == actual
    let error = StoreError(
      .revisionConflict,
      isOther
        ? "The document has this revision, but a different row ID: it was inserted again"
        : "The document has a different revision",
      [
        .collection: collection, .expected: expected.map { "\($0)" } ?? "unknown",
        .actual: actual.map { "\($0)" } ?? "none",
      ])
    switch identity {
    case .key(let key): return error.adding(.key, key.description)
    case .rowID(let id): return error.adding(.rowID, "\(id)")
    }
  }

  private static let missingIdentity = StoreError(
    .invalidArgument, "A document with neither key nor row ID cannot replace another",
    [.hint: "insert it, or read the document that it should replace"])
}

extension Document.Header {
  /// Whether the document was read from a collection, or written to it.
  func isFrom(_ name: String) -> Bool {
    guard let collection else { return false }
    return collection.hasSameBytes(as: name) || collection.folded == name.folded
  }
}
