// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine

/// The content of attachments, by reference.
extension Store {
  /// Stores content, and returns a reference to it for a document.
  ///
  /// ```swift
  /// film.poster = try store.addAttachment(.file(url), contentType: "image/jpeg")
  /// try films.save(film)
  /// ```
  ///
  /// Content that the store already has is not stored again. Content that no document refers to is deleted by
  /// ``compact(attachmentLease:)-(Duration)``, but not within an hour, so that you can save the document. Inside a
  /// write block, save it in the same block.
  ///
  /// - Parameters:
  ///   - source: Bytes or a file, which is read in pieces.
  ///   - contentType: The media type.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be opened,
  ///   ``StoreError/Code/unsupported`` if the engine has no attachments, ``StoreError/Code/full`` and
  ///   others. The content is not in the store.
  public func addAttachment(
    _ source: AttachmentSource, contentType: String = Attachment.unknownContentType
  ) throws -> Attachment {
    // A block has to save the reference itself, so the content needs no lease.
    try addAttachment(source, contentType, owner: isInTransaction ? nil : BlobOwner.ofProcess)
  }
  /// The asynchronous form of `addAttachment(_:contentType:)`, which does not block the calling
  /// thread. Canceling the task leaves nothing behind.
  public func addAttachment(
    _ source: AttachmentSource, contentType: String = Attachment.unknownContentType
  ) async throws -> Attachment {
    guard !source.isSmall else {
      return try await onWriter { try self.addAttachment(source, contentType) }
    }
    let writer = BlobWriter(self)
    return try await writer.discardingOnFailure {
      try await fill(writer, from: source)
      return try await onWriter { try self.finish(writer, contentType) }
    }
  }

  /// Stores content that arrives in pieces, such as a download; otherwise as
  /// ``addAttachment(_:contentType:)-(AttachmentSource,_)``.
  public func addAttachment<Pieces: AsyncSequence>(
    pieces: Pieces, contentType: String = Attachment.unknownContentType,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Attachment where Pieces.Element == Data {
    let writer = BlobWriter(self)
    return try await writer.discardingOnFailure {
      try await fill(writer, pieces: pieces)
      return try await onWriter { try self.finish(writer, contentType) }
    }
  }

  /// Stores content that arrives byte by byte, as from `URLSession`; otherwise as
  /// ``addAttachment(_:contentType:)-(AttachmentSource,_)``.
  public func addAttachment<Bytes: AsyncSequence>(
    bytes: Bytes, contentType: String = Attachment.unknownContentType,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Attachment where Bytes.Element == UInt8 {
    let writer = BlobWriter(self)
    return try await writer.discardingOnFailure {
      try await fill(writer, bytes: bytes)
      return try await onWriter { try self.finish(writer, contentType) }
    }
  }

  private func addAttachment(
    _ source: AttachmentSource, _ contentType: String, owner: String? = BlobOwner.ofProcess
  ) throws -> Attachment {
    let writer = BlobWriter(self)
    do {
      try source.fill(writer)
      return try finish(writer, contentType, owner: owner)
    } catch {
      writer.discard()
      throw error
    }
  }

  private func finish(
    _ writer: BlobWriter, _ contentType: String, owner: String? = BlobOwner.ofProcess
  ) throws -> Attachment {
    let attachment = writer.seal(contentType: contentType)
    try writing(atomic: true) { try writer.finish(in: $0, owner: owner) }
    return attachment
  }

  /// Returns the whole content of an attachment.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the store does not have it,
  ///   ``StoreError/Code/corruptFile`` if its bytes are not those that were stored.
  public func data(of attachment: Attachment) throws -> Data {
    try data { attachment }
  }
  /// The asynchronous form of `data(of:)`, which does not block the calling thread.
  public func data(of attachment: Attachment) async throws -> Data {
    try await onReader { try self.data(of: attachment) }
  }

  /// Returns a range of bytes of an attachment, without reading the rest.
  ///
  /// ```swift
  /// try store.data(of: video, in: 0..<1_024)
  /// ```
  ///
  /// The bytes are verified like the whole content.
  ///
  /// - Throws: Also ``StoreError/Code/invalidArgument`` for a range beyond the end.
  public func data(of attachment: Attachment, in range: Range<Int>) throws -> Data {
    try data(in: range) { attachment }
  }
  /// The asynchronous form of `data(of:in:)`, which does not block the calling thread.
  public func data(of attachment: Attachment, in range: Range<Int>) async throws -> Data {
    try await onReader { try self.data(of: attachment, in: range) }
  }

  /// Returns the content of an attachment as an asynchronous sequence of pieces, of which one is in
  /// memory at a time.
  ///
  /// ```swift
  /// for try await piece in store.stream(of: video) { … }
  /// ```
  public func stream(of attachment: Attachment) -> AttachmentStream {
    AttachmentStream(store: self) { attachment }
  }

  /// Writes the content of an attachment to a new file, with a few pieces in memory at a time.
  ///
  /// - Parameters:
  ///   - path: The file, which is created completely or not at all.
  ///   - replacing: Whether an existing file may be replaced.
  /// - Throws: The errors of ``data(of:)-(Attachment)``; ``StoreError/Code/alreadyExists``,
  ///   ``StoreError/Code/cannotOpen``, ``StoreError/Code/full`` for the file, and
  ///   ``StoreError/Code/invalidArgument`` if it is a file of the store itself.
  public func export(_ attachment: Attachment, to path: String, replacing: Bool = false) throws {
    let file = try ExportFile(path: path, replacing: replacing, of: self)
    try each(of: attachment) { try file.write($0) }
    try file.finish()
  }
  /// The asynchronous form of `export(_:to:replacing:)`, which does not block the calling thread.
  public func export(
    _ attachment: Attachment, to path: String, replacing: Bool = false
  ) async throws {
    try await onReader { try self.export(attachment, to: path, replacing: replacing) }
  }

  /// Passes the content of an attachment to a closure, piece by piece.
  ///
  /// ```swift
  /// try store.each(of: video) { socket.send($0) }
  /// ```
  ///
  /// - Parameter visit: Receives bytes that are valid during the call. It may use the store. An error
  ///   that it throws ends the reading.
  /// - Throws: The errors of ``data(of:)-(Attachment)``, before the damaged piece;
  ///   ``StoreError/Code/closed`` if the closure closed the store.
  public func each(
    of attachment: Attachment, _ visit: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let digest = try Self.digest(of: attachment)
    // Copied, so that the closure runs between calls of the engine: a connection in use is not reentrant.
    var piece: [UInt8] = []
    if let context = TransactionContext.current(of: self) {
      let record = try Self.record(digest, context.reader)
      var verifier = try BlobVerifier(record, context.reader)
      while !verifier.isAtEnd {
        try verifier.next(context.reader, into: &piece)
        try piece.withUnsafeBytes(visit)
      }
      return
    }
    waitForQueued()
    // Small content is read in the call that finds it.
    let isWhole = try engine().read(.snapshot, Interruption.current) { reader -> Bool in
      let record = try Self.record(digest, reader)
      guard record.chunkLength == 0 else { return false }
      var verifier = try BlobVerifier(record, reader)
      try verifier.next(reader, into: &piece)
      return true
    }
    if isWhole { return try piece.withUnsafeBytes(visit) }
    let kept = try keep(digest)
    defer { kept.close() }
    var verifier = try kept.read(Interruption.current) { try BlobVerifier(kept.record, $0) }
    while !verifier.isAtEnd {
      try kept.read(Interruption.current) { try verifier.next($0, into: &piece) }
      try piece.withUnsafeBytes(visit)
    }
  }
}
