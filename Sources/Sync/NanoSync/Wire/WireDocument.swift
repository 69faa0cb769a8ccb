// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoStoreCore

/// A document as JSON of the protocol has it, before its attachments are stored.
package struct WireDocument: Sendable, Hashable {
  /// Nil if the server chooses one.
  package var id: String?
  package var revision: RevisionID?
  /// The revision and its ancestors, the newest first; empty without a revision.
  package var history: [RevisionID]
  package var isDeleted: Bool
  package var body: DocumentObject
  package var attachments: [WireAttachment]

  /// Interprets an object.
  ///
  /// - Throws: ``ProtocolError`` with the names and reasons of CouchDB.
  package init(_ object: DocumentObject) throws(ProtocolError) {
    id = nil
    revision = nil
    history = []
    isDeleted = false
    body = [:]
    attachments = []
    body.reserveCapacity(object.count)
    for (name, value) in object {
      guard name.utf8.first == UInt8(ascii: "_"), !SyncDocument.isContent(name) else {
        body[name] = value
        continue
      }
      switch name {
      case "_id":
        guard let text = value.string else {
          throw ProtocolError(400, "illegal_docid", "Document id must be a string")
        }
        try Self.check(id: text)
        id = text
      case "_rev":
        guard value != .null else { continue }
        guard let revision = value.string.flatMap({ RevisionID($0) }) else {
          throw .badRequest("Invalid rev format")
        }
        self.revision = revision
      case "_revisions": history = try Self.history(value)
      case "_deleted": isDeleted = value == true
      case "_attachments": attachments = try WireAttachment.list(value)
      // What servers add to answers.
      case "_conflicts", "_deleted_conflicts", "_local_seq", "_revs_info": continue
      default: throw .invalidDocument("Bad special document member: \(name)")
      }
    }
    // The history decides if they differ.
    if let first = history.first {
      revision = first
    } else if let revision {
      history = [revision]
    }
    if let revision, revision.generation > Self.maximumGeneration {
      throw .badRequest("Invalid rev format")
    }
  }

  /// The largest that programs in JavaScript can represent, far from the end of the integers: each edit adds one.
  private static let maximumGeneration = (1 << 53) - 1

  package static func check(id: String) throws(ProtocolError) {
    guard !id.isEmpty else {
      throw ProtocolError(400, "illegal_docid", "Document id must not be empty")
    }
    guard !id.hasSameBytes(as: "_design/"), !id.hasSameBytes(as: "_local/") else {
      throw ProtocolError(400, "illegal_docid", "Illegal document id `\(id)`")
    }
    if id.utf8.first == UInt8(ascii: "_"), !id.hasExactPrefix("_design/"),
      !id.hasExactPrefix("_local/")
    {
      throw ProtocolError(
        400, "illegal_docid", "Only reserved document ids may start with underscore.")
    }
  }

  private static func history(_ value: DocumentValue) throws(ProtocolError) -> [RevisionID] {
    guard let object = value.object, let start = object["start"]?.int64, start < .max,
      let ids = object["ids"]?.array
    else { throw .invalidDocument("_revisions isn't an array of strings.") }
    var history: [RevisionID] = []
    var generation = Int(clamping: start)
    for id in ids {
      guard let hash = id.string.map({ RevisionHash($0) }) else {
        throw .invalidDocument("RevId isn't a string")
      }
      // More hashes than generations: CouchDB ignores the rest.
      guard generation > 0 else { break }
      history.append(RevisionID(generation: generation, hash: hash))
      generation -= 1
    }
    return history
  }

  /// Returns the revision as it is stored.
  ///
  /// - Parameters:
  ///   - id: The ID if the document has none.
  ///   - attachments: The attachments, with their content or as those of a former revision.
  /// - Throws: ``ProtocolError`` without a revision.
  package func document(
    id: String? = nil, attachments: [SyncAttachment]
  ) throws(ProtocolError) -> SyncDocument {
    guard let id = self.id ?? id else {
      throw ProtocolError(400, "illegal_docid", "Document id must not be empty")
    }
    guard let revision else {
      throw .badRequest(
        "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
    }
    return SyncDocument(
      id: id, revision: revision, isDeleted: isDeleted, body: body, attachments: attachments,
      history: history)
  }
}

extension WireDocument {
  /// The revision as a peer of this process sends it.
  package init(_ document: SyncDocument) {
    id = document.id
    revision = document.revision
    history = document.history
    isDeleted = document.isDeleted
    body = document.body
    attachments = document.attachments.map { WireAttachment($0) }
  }
}
