// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentAttachments {
  /// Stores content under a name; replaces the document's attachment of this name.
  ///
  /// Content is written in transactions of a few megabytes, so that other writers do not wait long. The last
  /// transaction makes it visible, together with the reference in the document. Inside a write block, it is written in
  /// the block's transaction.
  ///
  /// - Parameters:
  ///   - source: Bytes or a file, which is read in pieces.
  ///   - name: The name. It does not begin with an underscore.
  ///   - contentType: The media type.
  /// - Throws: ``StoreError/Code/notFound`` if the document does not exist,
  ///   ``StoreError/Code/invalidName`` for the name, ``StoreError/Code/cannotOpen`` for the file,
  ///   ``StoreError/Code/unsupported`` if the engine has no attachments, ``StoreError/Code/full`` and
  ///   others. The document is unchanged, and nothing else is visible.
  @discardableResult
  public func add(
    _ source: AttachmentSource, named name: String,
    contentType: String = Attachment.unknownContentType
  ) throws -> Attachment {
    _ = try Self.path(name)
    if !source.isSmall { _ = try all() }
    let writer = BlobWriter(collection.store)
    do {
      try source.fill(writer)
      return try finish(writer, name, contentType)
    } catch {
      writer.discard()
      throw error
    }
  }
  /// The asynchronous form of `add(_:named:contentType:)`, which does not block the calling thread.
  /// Canceling the task leaves nothing behind.
  @discardableResult
  public func add(
    _ source: AttachmentSource, named name: String,
    contentType: String = Attachment.unknownContentType
  ) async throws -> Attachment {
    guard !source.isSmall else {
      return try await collection.onWriter {
        try self.add(source, named: name, contentType: contentType)
      }
    }
    _ = try Self.path(name)
    _ = try await all()
    let writer = BlobWriter(collection.store)
    return try await writer.discardingOnFailure {
      try await collection.store.fill(writer, from: source)
      return try await collection.onWriter { try self.finish(writer, name, contentType) }
    }
  }

  /// Stores content that arrives in pieces, such as a download, under a name; otherwise as
  /// ``add(_:named:contentType:)-(AttachmentSource,_,_)``.
  @discardableResult
  public func add<Pieces: AsyncSequence>(
    pieces: Pieces, named name: String, contentType: String = Attachment.unknownContentType,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Attachment where Pieces.Element == Data {
    _ = try Self.path(name)
    _ = try await all()
    let writer = BlobWriter(collection.store)
    return try await writer.discardingOnFailure {
      try await collection.store.fill(writer, pieces: pieces)
      return try await collection.onWriter { try self.finish(writer, name, contentType) }
    }
  }

  /// Stores content that arrives byte by byte, as from `URLSession`, under a name.
  @discardableResult
  public func add<Bytes: AsyncSequence>(
    bytes: Bytes, named name: String, contentType: String = Attachment.unknownContentType,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Attachment where Bytes.Element == UInt8 {
    _ = try Self.path(name)
    _ = try await all()
    let writer = BlobWriter(collection.store)
    return try await writer.discardingOnFailure {
      try await collection.store.fill(writer, bytes: bytes)
      return try await collection.onWriter { try self.finish(writer, name, contentType) }
    }
  }

  /// Makes content visible together with its reference in the document.
  private func finish(
    _ writer: BlobWriter, _ name: String, _ contentType: String
  ) throws -> Attachment {
    let attachment = writer.seal(contentType: contentType)
    try change([.set(try Self.path(name), attachment.documentValue)]) { engine in
      try writer.finish(in: engine, owner: nil)
    }
    return attachment
  }

  /// Changes the document, and does more in the same transaction.
  @discardableResult
  private func change(
    _ changes: [FieldChange], _ work: (any EngineWriter) throws -> Void = { _ in }
  ) throws -> Document {
    let identity = try document()
    try InternalCollection.refuse(collection.name)
    return try collection.writing(atomic: true) { engine in
      // The document first: on a server, collecting attachments waits for documents before it deletes.
      guard let changed = try collection.update(identity, engine, try DocumentUpdate(changes))
      else {
        throw DocumentCollection.notFound(identity, collection.name)
      }
      if let field = try changed.before?.object()[Attachment.field], !field.isNull,
        field.object == nil
      {
        throw StoreError(
          .typeMismatch, "The field with the attachments of a document is not an object",
          [.collection: collection.name, .field: Attachment.field, .expected: "an object"])
      }
      try work(engine)
      return changed.after
    }
  }

  /// Gives an attachment another name, without copying its content. An attachment that has the new
  /// name is replaced.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the document or the attachment does not exist,
  ///   ``StoreError/Code/invalidName``. The document is unchanged.
  public func rename(_ name: String, to newName: String) throws {
    let (before, after) = (try Self.path(name), try Self.path(newName))
    try collection.store.write {
      let attachment = try existing(name)
      guard !name.hasSameBytes(as: newName) else { return }
      try change([.remove(before), .set(after, attachment.documentValue)])
    }
  }
  /// The asynchronous form of `rename(_:to:)`, which does not block the calling thread.
  public func rename(_ name: String, to newName: String) async throws {
    try await collection.onWriter { try self.rename(name, to: newName) }
  }

  /// Removes an attachment from the document and returns whether there was one.
  ///
  /// Its content is deleted by ``Store/compact(attachmentLease:)-(Duration)`` once no document refers to it.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the document does not exist.
  @discardableResult
  public func remove(_ name: String) throws -> Bool {
    let path = try Self.path(name)
    return try collection.store.write {
      guard try get(name) != nil else { return false }
      let after = try change([.remove(path)])
      if after[Attachment.field]?.object?.isEmpty == true {
        try change([.remove(FieldPath(components: [Attachment.field]))])
      }
      return true
    }
  }
  /// The asynchronous form of `remove(_:)`, which does not block the calling thread.
  @discardableResult
  public func remove(_ name: String) async throws -> Bool {
    try await collection.onWriter { try self.remove(name) }
  }
}
