// SPDX-License-Identifier: MIT

package import Foundation
package import NanoDocument
import NanoStoreCore

/// An attachment as JSON of the protocol has it.
package struct WireAttachment: Sendable, Hashable {
  package var name: String
  package var contentType: String
  /// The generation in which it came in; below 1 if it is unknown.
  package var generation: Int
  package var digest: String?
  package var length: Int64?
  /// `gzip` if the bytes that follow are compressed.
  package var encoding: String?
  package var source: Source

  package enum Source: Sendable, Hashable {
    /// The bytes are those of a former revision.
    case stub
    case data(Data)
    /// The bytes are in another part of the message, whose length is given if it is known.
    case follows(Int64?)
  }

  /// Interprets the value of `_attachments`.
  package static func list(_ value: DocumentValue) throws(ProtocolError) -> [WireAttachment] {
    guard value != .null else { return [] }
    guard let object = value.object else {
      throw .invalidDocument("Attachments must be a JSON object")
    }
    var list: [WireAttachment] = []
    for (name, value) in object {
      guard let properties = value.object else {
        throw .invalidDocument("Attachment must be a JSON object")
      }
      try check(name: name)
      list.append(try WireAttachment(name, properties))
    }
    return list
  }

  package static func check(name: String) throws(ProtocolError) {
    guard !name.isEmpty else {
      throw .badRequest("Attachment name must not be empty")
    }
    guard name.utf8.first != UInt8(ascii: "_") else {
      throw .badRequest("Attachment name '\(name)' starts with prohibited character '_'")
    }
  }

  private init(_ name: String, _ properties: DocumentObject) throws(ProtocolError) {
    self.name = name
    contentType = properties["content_type"]?.string ?? Attachment.unknownContentType
    generation = properties["revpos"]?.int64.map { Int(clamping: $0) } ?? 0
    digest = properties["digest"]?.string
    length = properties["length"]?.int64
    encoding = properties["encoding"]?.string
    // PouchDB 2 sends a stub together with the data.
    if let text = properties["data"]?.string {
      guard let data = Data(base64Encoded: text) else {
        throw .badRequest("Attachment is not a valid base64 encoded string")
      }
      source = .data(data)
    } else if let value = properties["data"], case .data(let data) = value {
      source = .data(data)
    } else if properties["follows"] == true {
      source = .follows(properties["encoded_length"]?.int64 ?? length)
    } else if properties["stub"] == true {
      source = .stub
    } else {
      throw .badRequest("Attachment has neither data nor a stub")
    }
  }

  /// The attachment as one that a former revision has.
  package var stub: SyncAttachment {
    SyncAttachment(
      name: name, contentType: contentType, generation: generation, digest: digest ?? "",
      length: length ?? 0, content: nil)
  }
}

extension WireAttachment {
  package init(_ attachment: SyncAttachment) {
    name = attachment.name
    contentType = attachment.contentType
    generation = attachment.generation
    digest = attachment.digest
    length = attachment.length
    encoding = nil
    source = .stub
  }
}
