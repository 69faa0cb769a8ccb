// SPDX-License-Identifier: MIT

import Crypto
import Foundation
package import NanoDocument

extension RevisionID {
  /// An attachment as it contributes to the hash of a revision.
  package struct AttachmentIdentity: Sendable, Hashable {
    package var name: String
    package var contentType: String
    /// The MD5 digest of the content.
    package var digest: [UInt8]

    package init(name: String, contentType: String, digest: [UInt8]) {
      self.name = name
      self.contentType = contentType
      self.digest = digest
    }
  }

  /// Creates the identifier of a new revision from its content, so that the same edit of the same parent is the same
  /// revision everywhere.
  ///
  /// It is the one that CouchDB creates for the same JSON text: MD5 over the Erlang term of the deletion, the parent, the
  /// body, and the attachments. CouchDB's digest of a compressed attachment is another one, so revisions with text
  /// attachments have other hashes there, which every program accepts.
  ///
  /// - Parameters:
  ///   - parent: The revision that was changed; nil for a new document.
  ///   - body: The fields as plain JSON, without those that begin with an underscore.
  ///   - attachments: In the order of the JSON text.
  ///   - distinction: Makes the edit another one than an equal edit elsewhere.
  package init(
    parent: RevisionID?, isDeleted: Bool, body: DocumentObject, attachments: [AttachmentIdentity],
    distinction: Int64? = nil
  ) {
    var term = ErlangTerm()
    term.list(distinction == nil ? 5 : 6) { term in
      term.bool(isDeleted)
      term.integer(Int64(parent?.generation ?? 0))
      if let parent { term.binary(parent.hash.bytes) } else { term.integer(0) }
      term.object(body)
      term.list(attachments.count) { term in
        for attachment in attachments.reversed() {
          term.tuple(3)
          term.binary(Array(attachment.name.utf8))
          term.binary(Array(attachment.contentType.utf8))
          term.binary(attachment.digest)
        }
      }
      if let distinction { term.integer(distinction) }
    }
    let words = Self.digest(term.bytes)
    self.init(
      generation: RevisionID.generation(after: parent), hash: .digest(words.high, words.low))
  }

  /// A number that stands for the revision, to distinguish edits that contain it from those that do not.
  var distinction: Int64 { Int64(bitPattern: Self.digest(Array(description.utf8)).high) }

  private static func digest(_ bytes: [UInt8]) -> (high: UInt64, low: UInt64) {
    let digest = Array(Insecure.MD5.hash(data: bytes))
    let word = { (range: Range<Int>) in digest[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    return (word(0..<8), word(8..<16))
  }
}
