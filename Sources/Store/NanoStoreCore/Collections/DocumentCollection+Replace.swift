// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Stores a document in place of the one that has its key, or its row id if it has no key; that one
  /// must be there. Its fields are replaced as a whole, not merged.
  ///
  /// ```swift
  /// try people.replace(Document(["__rowid__": 1, "name": "Ada"]))
  /// ```
  ///
  /// - Returns: The document as it is stored.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such document,
  ///   ``StoreError/Code/invalidArgument`` if it has neither key nor row id,
  ///   ``StoreError/Code/partialDocument`` if only some of its fields were read,
  ///   ``StoreError/Code/uniqueViolation``. What was stored stays.
  @discardableResult
  public func replace(_ document: Document) throws -> Document {
    guard !document.isPartial else { throw Self.partial }
    try InternalCollection.refuse(name)
    var header = document.header
    guard let identity = header.key.map(Identity.key) ?? header.rowID.map(Identity.rowID) else {
      throw Self.nobody
    }
    var writer = JSONWriter(capacity: 512)
    try document.write(to: &writer)
    try store.checkNames(writer.bytes)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    let body = writer.bytes
    try writing { engine in
      let replaced = try engine.replace(
        identity,
        with: NewDocument(
          key: header.key, type: header.type, version: header.version,
          added: Clock.microseconds(), body: body), in: name)
      guard replaced else { throw Self.notFound(identity, name) }
    }
    header.collection = name
    return Document(header, copying: body)
  }
  @discardableResult
  public func replace(_ document: Document) async throws -> Document {
    try await onWriter { try self.replace(document) }
  }

  private static let nobody = StoreError(
    .invalidArgument, "A document with neither key nor row id replaces none",
    [.hint: "insert it, or read the document that it is to replace"])
}
