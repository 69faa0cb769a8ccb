// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreCore
import NanoSync

/// A revision on its way to a peer: which attachments are sent with it, and which the peer keeps from a former revision.
struct OutgoingRevision: Sendable {
  let document: SyncDocument
  /// The attachments whose content is sent, in the order of the document.
  let sent: [(attachment: SyncAttachment, content: Attachment)]

  /// Attachments up to this size together are part of the JSON. Arbitrary: Base64 adds a third.
  static let maximumInline: Int64 = 1 << 20

  /// - Parameter ancestors: Leaves of the peer.
  init(_ document: SyncDocument, ancestors: [RevisionID]) {
    self.document = document
    // The newest revision from which this one descends: what had come in by then, the peer has. Without one it has
    // nothing, also of attachments whose generation is unknown.
    let known: Int? =
      ancestors.isEmpty
      ? nil
      : document.history.first { ancestors.contains($0) && $0 != document.revision }?.generation
    sent = document.attachments.compactMap { attachment in
      guard let content = attachment.content, known.map({ attachment.generation > $0 }) ?? true
      else { return nil }
      return (attachment, content)
    }
  }

  /// Whether content is left out that the peer is expected to have.
  var hasStubs: Bool { sent.count < document.attachments.count { $0.content != nil } }
  /// Whether the content is small enough to be part of the JSON.
  var isInline: Bool {
    sent.reduce(0) { $0 + $1.content.length } <= Self.maximumInline
  }

  /// The same with the content of all attachments.
  var complete: OutgoingRevision { OutgoingRevision(document, ancestors: []) }

  /// Returns the JSON with the content of the attachments.
  func inlineJSON(from store: Store) async throws -> [UInt8] {
    var contents = IDMap<Data>()
    for (attachment, content) in sent {
      contents[attachment.name] = try await store.data(of: content)
    }
    return document.json(WireOptions(hasHistory: true, attachments: .inline(contents)))
  }

  /// Returns the JSON and the content of the attachments as parts of one body.
  func multipart(from store: Store) -> MultipartBody {
    let names = Set(sent.map { ExactName($0.attachment.name) })
    return MultipartBody(
      json: document.json(WireOptions(hasHistory: true, attachments: .follows(names))),
      attachments: sent.map { ($0.attachment, $0.content) }, from: store)
  }

  func refusal(_ error: PeerError) -> PeerRefusal {
    PeerRefusal(id: document.id, revision: document.revision, error: error)
  }
}
