// SPDX-License-Identifier: MIT

public import NanoStoreCore

/// Attachments of values. They are stored beside the document, in the field `_attachments`, which values keep when they
/// are read and saved.
extension ModelCollection {
  /// Returns the attachments of the value with a key. Nothing is looked up until they are used.
  public func attachments(of key: String) -> DocumentAttachments { documents.attachments(of: key) }
  /// Returns the attachments of the value with a typed key. Nothing is looked up until they are used.
  public func attachments(of key: some ModelKey) -> DocumentAttachments {
    // Without a valid key, every call throws `invalidKey`.
    documents.attachments(of: (try? key.documentKey)?.description ?? "")
  }
  /// Returns the attachments of the value with a row ID. Nothing is looked up until they are used.
  public func attachments(ofRowID rowID: Int64) -> DocumentAttachments {
    documents.attachments(ofRowID: rowID)
  }

  /// Stores content beside a value, under a name; replaces the value's attachment of this name.
  ///
  /// ```swift
  /// try store[Film.self].attach(.file(url), named: "poster", contentType: "image/jpeg", to: "alien")
  /// ```
  ///
  /// The same as ``DocumentCollection/attach(_:named:contentType:to:)-(AttachmentSource,_,_,_)``.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if no document has this key, ``StoreError/Code/invalidName`` for the name;
  ///   the errors of adding content. The document is unchanged.
  @discardableResult
  public func attach(
    _ source: AttachmentSource, named name: String,
    contentType: String = Attachment.unknownContentType, to key: String
  ) throws -> Attachment {
    try documents.attach(source, named: name, contentType: contentType, to: key)
  }
  /// Stores content beside the value with a typed key, like `attach(_:named:contentType:to:)`.
  @discardableResult
  public func attach(
    _ source: AttachmentSource, named name: String,
    contentType: String = Attachment.unknownContentType, to key: some ModelKey
  ) throws -> Attachment {
    try attachments(of: key).add(source, named: name, contentType: contentType)
  }
  /// The asynchronous form of `attach(_:named:contentType:to:)`, which does not block the calling thread. Canceling the
  /// task leaves nothing behind.
  @discardableResult
  public func attach(
    _ source: AttachmentSource, named name: String,
    contentType: String = Attachment.unknownContentType, to key: String
  ) async throws -> Attachment {
    try await documents.attach(source, named: name, contentType: contentType, to: key)
  }
  /// The asynchronous form of `attach(_:named:contentType:to:)` for a typed key, which does not block the calling thread.
  @discardableResult
  public func attach(
    _ source: AttachmentSource, named name: String,
    contentType: String = Attachment.unknownContentType, to key: some ModelKey & Sendable
  ) async throws -> Attachment {
    try await attachments(of: key).add(source, named: name, contentType: contentType)
  }
}
