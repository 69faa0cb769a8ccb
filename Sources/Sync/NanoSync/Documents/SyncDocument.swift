// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoStoreCore

/// A revision of a document with its content, as replication transfers it.
package struct SyncDocument: Sendable, Hashable {
  package var id: String
  package var revision: RevisionID
  package var isDeleted: Bool
  /// The fields; of those that begin with an underscore, only ``isContent(_:)``. The class of a document is in the field
  /// `$nanostore`.
  package var body: DocumentObject
  package var attachments: [SyncAttachment]
  /// The revision and its ancestors, the newest first.
  package var history: [RevisionID]

  package init(
    id: String, revision: RevisionID, isDeleted: Bool = false, body: DocumentObject = [:],
    attachments: [SyncAttachment] = [], history: [RevisionID] = []
  ) {
    self.id = id
    self.revision = revision
    self.isDeleted = isDeleted
    self.body = body
    self.attachments = attachments
    self.history = history.isEmpty ? [revision] : history
  }

  /// Fields in which CouchDB's replicator and its access control keep their state in documents.
  private static let contentNames = [
    "_replication_id", "_replication_state", "_replication_state_reason",
    "_replication_state_time", "_replication_stats", "_access",
  ]

  /// Whether a field belongs to the content although its name begins with an underscore.
  package static func isContent(_ name: String) -> Bool {
    contentNames.contains { $0.hasSameBytes(as: name) }
  }
}

/// An attachment of a revision.
package struct SyncAttachment: Sendable, Hashable {
  package var name: String
  package var contentType: String
  /// The generation in which the attachment came in.
  package var generation: Int
  /// `md5-` and the digest of the content in Base64.
  package var digest: String
  /// The digest under which another program sent the content, if it is another one: CouchDB's is that of the compressed
  /// bytes.
  package var foreignDigest: String?
  package var length: Int64
  /// The content in this store; nil in a document to be written that keeps the attachment of the revision before.
  package var content: Attachment?
  /// The content in a former revision. The reference does not keep it: compacting the store removes what no document has.
  package var formerContent: Attachment?

  package init(
    name: String, contentType: String, generation: Int, digest: String,
    foreignDigest: String? = nil, length: Int64, content: Attachment?
  ) {
    self.name = name
    self.contentType = contentType
    self.generation = generation
    self.digest = digest
    self.foreignDigest = foreignDigest
    self.length = length
    self.content = content
  }
}
