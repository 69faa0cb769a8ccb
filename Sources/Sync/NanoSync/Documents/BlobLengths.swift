// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// The lengths of contents of the store, looked up once each.
struct BlobLengths {
  private var known: [BlobDigest: Int64?] = [:]

  /// Gives attachments the length of their content, and removes the reference to content that the store lacks.
  mutating func complete(_ record: inout RevisionRecord, _ reader: any EngineReader) throws {
    for index in record.attachments.indices { try complete(&record.attachments[index], reader) }
    for (id, kept) in record.bodies where !kept.attachments.isEmpty {
      var kept = kept
      for index in kept.attachments.indices { try complete(&kept.attachments[index], reader) }
      record.bodies[id] = kept
    }
  }

  private mutating func complete(
    _ attachment: inout SyncAttachment, _ reader: any EngineReader
  ) throws {
    guard let content = attachment.content else { return }
    do {
      let length = try length(of: content, reader)
      if let length { attachment.length = length }
      attachment.content = length.map {
        Attachment(digest: content.digest, length: $0, contentType: content.contentType)
      }
    } catch let error as StoreError where error.code == .corruptFile {
      // Reading the content reports it.
    }
  }

  /// Returns whether the store lacks a content. Damaged content counts as present; reading it reports the damage.
  mutating func lacks(_ content: Attachment, _ reader: any EngineReader) throws -> Bool {
    do {
      return try length(of: content, reader) == nil
    } catch let error as StoreError where error.code == .corruptFile {
      return false
    }
  }

  /// Returns the length of a content, or nil if the store lacks it.
  mutating func length(of content: Attachment, _ reader: any EngineReader) throws -> Int64? {
    guard let digest = BlobDigest(text: content.digest) else { return nil }
    if let length = known[digest] { return length }
    let length = try reader.blob(digest)?.length
    known[digest] = .some(length)
    return length
  }
}
