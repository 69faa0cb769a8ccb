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
    return .object(object)
  }

  init?(recordValue value: DocumentValue) {
    guard let object = value.object, let name = object["name"]?.string,
      let type = object["type"]?.string, let generation = object["generation"]?.int64,
      let md5 = object["md5"]?.string, let length = object["length"]?.int64
    else { return nil }
    self.init(
      name: name, contentType: type, generation: Int(generation), digest: md5,
      foreignDigest: object["foreign"]?.string, length: length,
      content: object["digest"]?.string.map {
        Attachment(digest: $0, length: length, contentType: type)
      })
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
