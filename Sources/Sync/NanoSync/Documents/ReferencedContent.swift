// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// The content to which a document refers outside of `_attachments`, such as in a property of type `Attachment`.
///
/// The protocol transfers only named attachments, so that this content is one of them, with its digest in the name. The
/// stored document has only the reference.
enum ReferencedContent {
  private static let prefix = "$nanostore-"

  /// Whether it is the name of an attachment that stored documents do not list.
  static func isName(_ name: String) -> Bool {
    name.hasExactPrefix(prefix) && BlobDigest(text: String(name.dropFirst(prefix.count))) != nil
  }

  /// Returns the references in the fields of a document, each content once, in order.
  static func references(in body: DocumentObject) -> [NamedAttachment] {
    var found: [NamedAttachment] = []
    collect(.object(body), &found)
    return found
  }

  private static func collect(_ value: DocumentValue, _ found: inout [NamedAttachment]) {
    switch value {
    case .array(let elements): for element in elements { collect(element, &found) }
    case .object(let object):
      guard let reference = Attachment(value), BlobDigest(text: reference.digest) != nil,
        Attachment.isPossible(length: reference.length)
      else {
        for (_, field) in object { collect(field, &found) }
        return
      }
      let name = prefix + reference.digest
      if !found.contains(where: { $0.name.hasSameBytes(as: name) }) {
        found.append(NamedAttachment(name: name, attachment: reference))
      }
    default: break
    }
  }

  /// Adapts the merged attachments of two versions to the fields that were chosen.
  ///
  /// - Returns: Those with names, and those to which the fields refer.
  static func adapt(
    _ merged: [SyncAttachment], to body: DocumentObject, of versions: [SyncAttachment]
  ) -> [SyncAttachment] {
    let references = references(in: body)
    var adapted = merged.filter { attachment in
      !isName(attachment.name)
        || references.contains { $0.name.hasSameBytes(as: attachment.name) }
    }
    for reference in references
    where !adapted.contains(where: { $0.name.hasSameBytes(as: reference.name) }) {
      guard var content = versions.first(where: { $0.name.hasSameBytes(as: reference.name) })
      else { continue }
      // It comes in with the merged revision.
      content.generation = 0
      adapted.append(content)
    }
    return adapted
  }
}
