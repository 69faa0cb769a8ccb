// SPDX-License-Identifier: MIT

package import Foundation
package import NanoDocument

/// Which parts of a revision its JSON has.
package struct WireOptions: Sendable {
  /// Whether `_revisions` has the ancestry.
  package var hasHistory: Bool
  package var attachments: AttachmentForm
  /// More fields at the end, such as `_conflicts`.
  package var additions: DocumentObject

  package enum AttachmentForm: Sendable {
    case stubs
    /// Attachments are stubs unless their content is given, by name.
    case inline(IDMap<Data>)
    /// The content of these, by name, is in other parts of the message.
    case follows(Set<ExactName>)
  }

  package init(
    hasHistory: Bool = false, attachments: AttachmentForm = .stubs, additions: DocumentObject = [:]
  ) {
    self.hasHistory = hasHistory
    self.attachments = attachments
    self.additions = additions
  }
}

extension SyncDocument {
  /// Returns the JSON of the revision.
  package func json(_ options: WireOptions = WireOptions()) -> [UInt8] {
    var head: DocumentObject = ["_id": .string(id), "_rev": .string("\(revision)")]
    if isDeleted { head["_deleted"] = true }
    var tail = DocumentObject()
    if !attachments.isEmpty {
      tail["_attachments"] = .object(attachmentObject(options.attachments))
    }
    if options.hasHistory {
      tail["_revisions"] = [
        "start": .int(Int64(revision.generation)),
        "ids": .array(history.map { .string("\($0.hash)") }),
      ]
    }
    tail.merge(options.additions)
    return Self.joined([head, body, tail].filter { !$0.isEmpty }.map { SyncJSON.bytes($0) })
  }

  /// Joins the fields of objects.
  private static func joined(_ objects: [[UInt8]]) -> [UInt8] {
    var json: [UInt8] = [UInt8(ascii: "{")]
    json.reserveCapacity(objects.reduce(2) { $0 + $1.count })
    for (index, object) in objects.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json += object[1..<object.count - 1]
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  private func attachmentObject(_ form: WireOptions.AttachmentForm) -> DocumentObject {
    var object = DocumentObject()
    for attachment in attachments {
      var properties: DocumentObject = [
        "content_type": .string(attachment.contentType),
        "revpos": .int(Int64(attachment.generation)), "digest": .string(attachment.digest),
      ]
      switch form {
      case .inline(let contents):
        if let data = contents[attachment.name] {
          properties["data"] = .string(data.base64EncodedString())
        } else {
          properties["length"] = .int(attachment.length)
          properties["stub"] = true
        }
      case .follows(let names):
        properties["length"] = .int(attachment.length)
        properties[names.contains(ExactName(attachment.name)) ? "follows" : "stub"] = true
      case .stubs:
        properties["length"] = .int(attachment.length)
        properties["stub"] = true
      }
      object[attachment.name] = .object(properties)
    }
    return object
  }
}
