// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// Makes values of stored documents, upgrades those of older versions on the way, and says of which document
/// and field an error is.
@usableFromInline
struct ModelDecoder<M: Model>: Sendable {
  /// The version that needs no upgrade.
  @usableFromInline let version: Int64
  @usableFromInline let collection: String

  @usableFromInline
  init(_ collection: String) {
    version = Int64(M.modelVersion)
    self.collection = collection
  }

  /// The value of a document as an engine shows it.
  @inlinable @inline(__always)
  func value(_ stored: StoredDocument) throws(StoreError) -> M {
    if _slowPath((stored.version ?? 1) != version) { return try otherVersion(stored) }
    do throws(StoreError) {
      var reader = JSONReader(stored.body)
      return try M(reading: &reader, key: stored.borrowedKey)
    } catch {
      throw located(error, stored.body, stored.borrowedKey.key, stored.rowID)
    }
  }

  /// The value of a document.
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
  func otherVersion(_ stored: StoredDocument) throws(StoreError) -> M {
    let written = stored.version ?? 1
    guard written < version else { return try newerVersion(stored, written) }
    do {
      var reader = JSONReader(stored.body)
      var object = try reader.object()
      try M.upgrade(&object, from: Int(written))
      var writer = JSONWriter()
      writer.object(object)
      if let failure = writer.failure { throw failure }
      var upgraded = JSONReader(writer.bytes)
      return try M(reading: &upgraded, key: stored.borrowedKey)
    } catch let error as StoreError {
      throw located(error, stored.body, stored.borrowedKey.key, stored.rowID)
        .adding(.actual, "a document of version \(written)")
    } catch {
      throw located(
        StoreError(
          .typeMismatch, "A document cannot be upgraded",
          [.actual: "a document of version \(written)", .value: "\(error)"]),
        stored.body, stored.borrowedKey.key, stored.rowID)
    }
  }

  /// What a newer version wrote is read as far as it is known; when it is saved, it stays of that version.
  private func newerVersion(
    _ stored: StoredDocument, _ written: Int64
  ) throws(StoreError) -> M {
    do throws(StoreError) {
      var reader = JSONReader(stored.body)
      var value = try M(reading: &reader, key: stored.borrowedKey)
      value._$unknownFields.keep(newerVersion: written)
      return value
    } catch {
      throw located(error, stored.body, stored.borrowedKey.key, stored.rowID)
        .adding(.actual, "a document of version \(written), newer than \(version)")
    }
  }

  /// The error with the collection, the document and the field.
  @usableFromInline @inline(never)
  func located(
    _ error: StoreError, _ body: UnsafeRawBufferPointer, _ key: DocumentKey?, _ rowID: Int64
  ) -> StoreError {
    var located = error
    if let offset = error[.byteOffset].flatMap({ Int($0) }) {
      let names = JSONReader.path(toByte: offset, in: body)
      let field = (names + (error[.field].map { [$0] } ?? [])).joined(separator: ".")
      if !field.isEmpty { located = located.replacing(.field, field) }
    }
    located = located.adding(.collection, collection)
    if let key { located = located.adding(.key, key.description) }
    return located.adding(.rowID, "\(rowID)")
  }
}
