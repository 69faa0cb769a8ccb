// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// The documents that a save cannot write in order, because another document still has one of their
/// unique values.
///
/// ```swift
/// (a.code, b.code) = ("2", "1")        // stored: "1" and "2"
/// ```
/// The other document may give up the value later in the same save. Until then, a postponed
/// document has no fields, so that the others can take its values: null never violates a unique
/// index. Only a document that is rejected at the end has a value that another one keeps.
struct PostponedWrites {
  fileprivate struct Write {
    let documents: DocumentCollection
    let rowID: Int64
    let key: DocumentKey?
    let version: Int64?
    let body: [UInt8]
  }
  private var replacements: [Write] = []
  private var insertions: [Write] = []

  /// Replaces a document, or postpones it.
  ///
  /// - Parameters:
  ///   - content: The number of the content that the document must have (``LoadedContent``).
  ///   - encode: Writes the fields into an empty buffer.
  /// - Returns: Whether the document was replaced; nil if it is postponed. False if no document has
  ///   this row ID, or if its content differs.
  mutating func replace(
    _ batch: DocumentBatch, _ writer: inout JSONWriter, in documents: DocumentCollection,
    rowID: Int64, content: Int64 = LoadedContent.unknown, version: Int64?,
    _ encode: (inout JSONWriter) throws -> Void
  ) throws -> Bool? {
    let isHash = LoadedContent.isHash(content)
    if isHash, try !LoadedContent.isCurrent(content, rowID: rowID, in: documents) { return false }
    let revision = isHash || content == LoadedContent.unknown ? nil : content
    do {
      try encode(&writer)
      return try batch.replace(&writer, rowID: rowID, revision: revision, version: version)
    } catch let error as StoreError where error.code == .uniqueViolation {
      writer.literal("{}")
      guard try batch.replace(&writer, rowID: rowID, revision: revision, version: version) else {
        return false
      }
      try encode(&writer)
      replacements.append(
        Write(
          documents: documents, rowID: rowID, key: nil, version: version, body: Array(writer.bytes))
      )
      writer.removeAll()
      return nil
    }
  }

  /// Inserts a document whose row was deleted, or postpones it.
  mutating func insert(
    _ documents: DocumentCollection, rowID: Int64, key: DocumentKey?, version: Int64?,
    _ encode: (inout JSONWriter) throws -> Void
  ) throws {
    var body: [UInt8] = []
    do {
      _ = try documents.writeBatch(.insert, atomic: false) { batch, writer in
        try encode(&writer)
        body = Array(writer.bytes)
        try batch.add(&writer, key: key, version: version, rowID: rowID)
      }
    } catch let error as StoreError where error.code == .uniqueViolation {
      insertions.append(
        Write(documents: documents, rowID: rowID, key: key, version: version, body: body))
    }
  }

  /// Writes the postponed documents. Call this after all other replacements.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` if another document keeps a value.
  mutating func write() throws {
    for write in replacements {
      try write.inBatch(.save) { batch, writer in
        _ = try batch.replace(&writer, rowID: write.rowID, revision: nil, version: write.version)
      }
    }
    for write in insertions {
      try write.inBatch(.insert) { batch, writer in
        try batch.add(&writer, key: write.key, version: write.version, rowID: write.rowID)
      }
    }
    self = PostponedWrites()
  }
}

extension PostponedWrites.Write {
  /// Passes a batch and the encoded fields to a closure.
  fileprivate func inBatch(
    _ mode: WriteMode, _ work: (DocumentBatch, inout JSONWriter) throws -> Void
  ) throws {
    do {
      _ = try documents.writeBatch(mode, atomic: false) { batch, writer in
        body.withUnsafeBytes { writer.raw($0) }
        try work(batch, &writer)
      }
    } catch let error as StoreError {
      throw error.adding(.collection, documents.name).adding(.rowID, "\(rowID)")
    }
  }
}
