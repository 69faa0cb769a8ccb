// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// The named attachments of one document.
///
/// ```swift
/// let attachments = films.attachments(of: "alien")
/// try attachments.add(.file(url), named: "poster", contentType: "image/jpeg")
/// try attachments.data("poster")
/// ```
///
/// The document holds a reference to each in the field `_attachments`, an object by name, so that queries can use it:
/// `[_attachments.poster.length] > 1000000`. Updates of the document keep the field. A `save` replaces the whole
/// document: if the new value lacks the field, the document has no attachments.
public struct DocumentAttachments: Sendable {
  let collection: DocumentCollection
  /// The store that contains the document.
  public var store: Store { collection.store }
  let identity: Identity?
  /// The error that every call throws, for a key that is not valid.
  private let refusal: StoreError?

  init(_ collection: DocumentCollection, key: String) {
    self.collection = collection
    do {
      identity = .key(try DocumentKey(key))
      refusal = nil
    } catch {
      identity = nil
      refusal = error
    }
  }

  init(_ collection: DocumentCollection, rowID: Int64) {
    self.collection = collection
    identity = .rowID(rowID)
    refusal = nil
  }

  func document() throws -> Identity {
    if let refusal { throw refusal }
    guard let identity else { throw StoreError(.invalidKey, "The key is not valid") }
    return identity
  }

  /// The path of an attachment's reference in the document.
  static func path(_ name: String) throws(StoreError) -> FieldPath {
    guard !name.isEmpty, !name.utf8.contains(0), !name.utf8.starts(with: "_".utf8) else {
      throw StoreError(
        .invalidName, "An attachment cannot have this name",
        [
          .hint: "a name is not empty, contains no NUL, and does not begin with an underscore",
          .value: name,
        ])
    }
    return FieldPath(components: [Attachment.field, name])
  }

  static func missing(_ name: String, _ collection: String) -> StoreError {
    StoreError(
      .notFound, "The document has no attachment with this name",
      [.collection: collection, .value: name])
  }
}

extension DocumentCollection {
  /// Returns the attachments of the document with this key. Nothing is looked up until they are used.
  public func attachments(of key: String) -> DocumentAttachments {
    DocumentAttachments(self, key: key)
  }

  /// Returns the attachments of the document with this row ID. Nothing is looked up until they are
  /// used.
  public func attachments(ofRowID rowID: Int64) -> DocumentAttachments {
    DocumentAttachments(self, rowID: rowID)
  }

  /// Stores content beside a document, under a name; replaces the document's attachment of this name.
  ///
  /// ```swift
  /// try films.attach(.file(url), named: "poster", contentType: "image/jpeg", to: "alien")
  /// ```
  ///
  /// The same as ``DocumentAttachments/add(_:named:contentType:)-(AttachmentSource,_,_)``.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if no document has this key,
  ///   ``StoreError/Code/invalidName`` for the name; the errors of adding content. The document is
  ///   unchanged.
  @discardableResult
  public func attach(
    _ source: AttachmentSource, named name: String,
    contentType: String = Attachment.unknownContentType, to key: String
  ) throws -> Attachment {
    try attachments(of: key).add(source, named: name, contentType: contentType)
  }
  /// The asynchronous form of `attach(_:named:contentType:to:)`, which does not block the calling
  /// thread. Canceling the task leaves nothing behind.
  @discardableResult
  public func attach(
    _ source: AttachmentSource, named name: String,
    contentType: String = Attachment.unknownContentType, to key: String
  ) async throws -> Attachment {
    try await attachments(of: key).add(source, named: name, contentType: contentType)
  }
}

extension DocumentAttachments {
  /// Returns the attachments in the order in which they were added.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the document does not exist.
  public func all() throws -> [NamedAttachment] {
    guard let object = try stored() else { return [] }
    return object.compactMap { name, value in
      Attachment(value).map { NamedAttachment(name: name, attachment: $0) }
    }
  }
  /// The asynchronous form of `all()`, which does not block the calling thread.
  public func all() async throws -> [NamedAttachment] {
    try await collection.onReader { try self.all() }
  }

  /// Returns the reference to an attachment, or nil if the document has none with this name.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the document does not exist.
  public func get(_ name: String) throws -> Attachment? {
    try stored()?[name].flatMap(Attachment.init)
  }
  /// The asynchronous form of `get(_:)`, which does not block the calling thread.
  public func get(_ name: String) async throws -> Attachment? {
    try await collection.onReader { try self.get(name) }
  }

  /// Returns the references by name, or nil if the document has none.
  ///
  /// - Throws: ``StoreError/Code/notFound``.
  private func stored() throws -> DocumentObject? {
    let identity = try document()
    guard let found = try collection.get(identity) else {
      throw DocumentCollection.notFound(identity, collection.name)
    }
    return found[Attachment.field]?.object
  }

  /// - Throws: ``StoreError/Code/notFound``.
  func existing(_ name: String) throws -> Attachment {
    guard let found = try get(name) else { throw Self.missing(name, collection.name) }
    return found
  }

  /// Returns the whole content of an attachment.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the document or the attachment does not exist,
  ///   ``StoreError/Code/corruptFile`` if the bytes are not those that were stored.
  public func data(_ name: String) throws -> Data {
    try collection.store.data { try existing(name) }
  }
  /// The asynchronous form of `data(_:)`, which does not block the calling thread.
  public func data(_ name: String) async throws -> Data {
    try await collection.onReader { try self.data(name) }
  }

  /// Returns a range of bytes of an attachment, without reading the rest.
  ///
  /// - Throws: Also ``StoreError/Code/invalidArgument`` for a range beyond the end.
  public func data(_ name: String, in range: Range<Int>) throws -> Data {
    try collection.store.data(in: range) { try existing(name) }
  }
  /// The asynchronous form of `data(_:in:)`, which does not block the calling thread.
  public func data(_ name: String, in range: Range<Int>) async throws -> Data {
    try await collection.onReader { try self.data(name, in: range) }
  }

  /// Returns the content of an attachment as an asynchronous sequence of pieces, of which one is in
  /// memory at a time.
  public func stream(_ name: String) -> AttachmentStream {
    AttachmentStream(store: collection.store) { try existing(name) }
  }
}
