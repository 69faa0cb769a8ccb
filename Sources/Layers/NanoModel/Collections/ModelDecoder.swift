// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// Decodes stored documents as values of a model, upgrades older versions first, and adds the
/// document and the field to errors.
@usableFromInline
package struct ModelDecoder<M: Model>: Sendable {
  /// The current version of the model, which needs no upgrade.
  @usableFromInline let version: Int64
  @usableFromInline let collection: String

  @usableFromInline
  package init(_ collection: String) {
    version = Int64(M.modelVersion)
    self.collection = collection
  }

  /// Decodes stored content. An error does not name the document.
  @inlinable @inline(__always)
  func value(_ content: StoredContent) throws(StoreError) -> M {
    if _slowPath((content.version ?? 1) != version) { return try valueOfOtherVersion(content) }
    var reader = JSONReader(content.body)
    return try M(reading: &reader, key: content.key)
  }

  /// Decodes a stored document.
  func value(_ stored: StoredDocument) throws(StoreError) -> M {
    do throws(StoreError) {
      return try value(
        StoredContent(key: stored.borrowedKey, version: stored.version, body: stored.body))
    } catch {
      throw located(error, stored.body, stored.key, stored.rowID)
    }
  }

  /// Decodes a document.
  func value(_ document: Document) throws -> M {
    let header = document.header
    return try document.withBytes { bytes in
      try DocumentKey.withBorrowed(header.key) { key in
        try value(
          StoredDocument(
            rowID: header.rowID ?? 0, key: key, type: nil, version: header.version, added: nil,
            revision: nil, body: bytes))
      }
    }
  }

  @usableFromInline @inline(never)
  func valueOfOtherVersion(_ content: StoredContent) throws(StoreError) -> M {
    var value: M?
    try withFieldsOfToday(content) { (reader, key) throws(StoreError) in
      value = try M(reading: &reader, key: key)
    }
    guard var value else { throw StoreError(.corruptDocument, "A document cannot be decoded") }
    let written = content.version ?? 1
    // The declared fields of a document of a newer version are read; it keeps its version when
    // saved.
    if written > version { value._$unknownFields.keep(version: written) }
    return value
  }

  /// Passes a reader of the document's fields, upgraded to the current version of the model, to a
  /// closure.
  package func withFieldsOfToday(
    _ content: StoredContent,
    _ read: (inout JSONReader, BorrowedKey) throws(StoreError) -> Void
  ) throws(StoreError) {
    let written = content.version ?? 1
    guard written < version else {
      var reader = JSONReader(content.body)
      return try read(&reader, content.key)
    }
    do throws(StoreError) {
      var reader = JSONReader(content.body)
      var object = try reader.object()
      try M.upgrade(&object, from: Int(written))
      var writer = JSONWriter()
      writer.object(object)
      if let failure = writer.failure { throw failure }
      // The upgraded bytes differ from the stored document, so the field of an error is resolved
      // here.
      do throws(StoreError) {
        var reader = JSONReader(writer.bytes)
        try read(&reader, content.key)
      } catch {
        throw error.withField(in: writer.bytes)
      }
    } catch {
      throw error.adding(.actual, "a document of version \(written), read as \(version)")
    }
  }

  /// Returns the error with the collection, the document and the field added.
  package func located(
    _ error: StoreError, _ body: UnsafeRawBufferPointer, _ key: DocumentKey?, _ rowID: Int64
  ) -> StoreError {
    var located = error.withField(in: body).adding(.collection, collection)
    if let key { located = located.adding(.key, key.description) }
    return located.adding(.rowID, "\(rowID)")
  }
}
