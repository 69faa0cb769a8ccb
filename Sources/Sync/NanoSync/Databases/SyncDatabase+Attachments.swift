// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

extension SyncAttachment {
  /// Whether the digest is that of the protocol: the content had arrived when the revision was created.
  fileprivate var isDigested: Bool { !digest.hasExactPrefix("sha256-") }

  var identity: RevisionID.AttachmentIdentity {
    RevisionID.AttachmentIdentity(
      name: name, contentType: contentType, digest: digestBytes ?? Array(digest.utf8))
  }
}

extension SyncDatabase {
  /// Returns the attachments of a document with the digests of the protocol.
  func attachments(
    _ named: [NamedAttachment], _ record: RevisionRecord, _ parent: RevisionTree.Leaf?,
    _ writer: any EngineWriter
  ) throws -> [SyncAttachment] {
    guard !named.isEmpty else { return [] }
    let known = Dictionary(record.attachments.map { ($0.content?.digest ?? "", $0) }) { a, _ in a }
    var lengths = BlobLengths()
    return try named.compactMap { named in
      var (name, attachment) = (named.name, named.attachment)
      let old = record.attachments.first {
        $0.name.hasSameBytes(as: name) && $0.contentType.hasSameBytes(as: attachment.contentType)
          && $0.content?.digest == attachment.digest
      }
      if let old, old.isDigested { return old }
      // A field can look like a reference, or outlive its content, which the protocol cannot express. `verify` reports it.
      if ReferencedContent.isName(name), try lengths.lacks(attachment, writer) { return nil }
      let digest: String
      if let same = known[attachment.digest], same.foreignDigest == nil, same.isDigested {
        (digest, attachment.length) = (same.digest, same.length)
      } else {
        (digest, attachment.length) = try self.digest(of: attachment)
      }
      return SyncAttachment(
        name: name, contentType: attachment.contentType,
        generation: RevisionID.generation(after: parent?.id), digest: digest,
        length: attachment.length,
        content: attachment)
    }
  }

  /// Reads the content, whose digest of the other kind is not stored, and whose length a document may state wrongly.
  private func digest(of attachment: Attachment) throws -> (String, length: Int64) {
    var digest = AttachmentDigest()
    var length: Int64 = 0
    do {
      try store.each(of: attachment) { piece in
        piece.withUnsafeBytes { digest.update($0) }
        length += Int64(piece.count)
      }
    } catch let error as StoreError where error.concernsContent {
      // A reference to content that the store does not have yet, or that is damaged, which reading it reports; it has a
      // digest nevertheless, until the next revision.
      return (attachment.digest, attachment.length)
    }
    return (digest.text(), length)
  }
}
