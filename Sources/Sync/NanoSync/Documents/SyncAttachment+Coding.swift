// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import NanoStoreCore

extension SyncAttachment {
  /// The attachment as part of a stored record.
  var recordValue: DocumentValue {
    var object: DocumentObject = [
      "name": .string(name), "type": .string(contentType), "generation": .int(Int64(generation)),
      "md5": .string(digest), "length": .int(length),
    ]
    if let foreignDigest { object["foreign"] = .string(foreignDigest) }
    if let content { object["digest"] = .string(content.digest) }
    // Without its prefix, which would mark the content as used.
    if let formerContent, formerContent.digest.hasExactPrefix(Self.digestPrefix) {
      object["former"] = .string(String(formerContent.digest.dropFirst(Self.digestPrefix.count)))
    }
    return .object(object)
  }

  init?(recordValue value: DocumentValue) {
    guard let object = value.object, let name = object["name"]?.string,
      let type = object["type"]?.string, let generation = object["generation"]?.int64,
      let md5 = object["md5"]?.string, let stated = object["length"]?.int64
    else { return nil }
    // Earlier versions stored any length that a document stated. Readers of revisions get that of the content.
    let length = Attachment.isPossible(length: stated) ? stated : 0
    self.init(
      name: name, contentType: type, generation: Int(generation), digest: md5,
      foreignDigest: object["foreign"]?.string, length: length,
      content: object["digest"]?.string.map {
        Attachment(digest: $0, length: length, contentType: type)
      })
    formerContent = object["former"]?.string.map {
      Attachment(digest: Self.digestPrefix + $0, length: length, contentType: type)
    }
  }

  private static let digestPrefix = "sha256-"

  /// The attachment in a revision that has been replaced.
  var former: SyncAttachment {
    var former = self
    former.formerContent = content ?? formerContent
    former.content = nil
    return former
  }

  /// The MD5 digest as bytes; nil if another program sent a digest of another kind.
  var digestBytes: [UInt8]? {
    guard digest.hasPrefix("md5-"), let data = Data(base64Encoded: String(digest.dropFirst(4)))
    else { return nil }
    return Array(data)
  }

  /// Whether another program's digest is that of this content.
  package func hasDigest(_ other: String) -> Bool {
    other.hasSameBytes(as: digest) || foreignDigest.map { $0.hasSameBytes(as: other) } ?? false
  }
}

extension SyncAttachment {
  /// Returns the attachment of former revisions that one without content stands for; nil if there is none.
  ///
  /// The digest decides. If it is of a kind that is not known here, as CouchDB's of compressed content, the generation does.
  package func kept(from known: [SyncAttachment]) -> SyncAttachment? {
    let named = known.filter { $0.content != nil && $0.name.hasSameBytes(as: name) }
    if digest.isEmpty { return named.first { $0.generation == generation } ?? named.first }
    return named.first { $0.hasDigest(digest) } ?? named.first { $0.generation == generation }
  }
}

/// Computes the digest of content in pieces.
package struct AttachmentDigest {
  private var hash = Insecure.MD5()

  package init() {}

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    hash.update(bufferPointer: bytes)
  }

  /// `md5-` and the digest in Base64.
  package func text() -> String { "md5-" + Data(hash.finalize()).base64EncodedString() }
}
