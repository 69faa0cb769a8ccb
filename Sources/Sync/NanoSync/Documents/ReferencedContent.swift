// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// The content to which a document refers outside of `_attachments`, such as in a property of type `Attachment`.
///
/// The protocol transfers only named attachments, so this content becomes one whose name contains its digest. The stored
/// document has only the reference.
enum ReferencedContent {
  private static let prefix = "$nanostore-"

  /// Whether it is the name of an attachment that stored documents do not list.
  static func isName(_ name: String) -> Bool {
    name.hasExactPrefix(prefix) && BlobDigest(text: String(name.dropFirst(prefix.count))) != nil
  }

  /// Returns the reference that a value is; nil for any other value.
  static func reference(_ value: DocumentValue?) -> Attachment? {
    guard let value, let reference = Attachment(value), BlobDigest(text: reference.digest) != nil
    else { return nil }
    return reference
  }

  /// Returns the references in the fields of a document, each content once, in order.
  static func references(in body: DocumentObject) -> [NamedAttachment] {
    var (found, names) = ([NamedAttachment](), Set<String>())
    collect(.object(body), &found, &names)
    return found
  }

  private static func collect(
    _ value: DocumentValue, _ found: inout [NamedAttachment], _ names: inout Set<String>
  ) {
    switch value {
    case .array(let elements): for element in elements { collect(element, &found, &names) }
    case .object(let object):
      if let reference = reference(value), Attachment.isPossible(length: reference.length),
        names.insert(prefix + reference.digest).inserted
      {
        found.append(NamedAttachment(name: prefix + reference.digest, attachment: reference))
      }
      for (_, field) in object { collect(field, &found, &names) }
    default: break
    }
  }

  /// Adapts the merged attachments of two versions to the fields that were chosen.
  ///
  /// - Returns: Those with names, and those to which the fields refer.
  static func adapt(
    _ merged: [SyncAttachment], to body: DocumentObject, of versions: [SyncAttachment]
  ) -> [SyncAttachment] {
    // The names are ASCII, so that equal ones have the same bytes.
    var missing = references(in: body).map(\.name)
    let names = Set(missing)
    var adapted = merged.filter { !isName($0.name) || names.contains($0.name) }
    let present = Set(adapted.map(\.name))
    missing.removeAll { present.contains($0) }
    for name in missing {
      guard var content = versions.first(where: { $0.name == name }) else { continue }
      // It comes in with the merged revision.
      content.generation = 0
      adapted.append(content)
    }
    return adapted
  }
}
