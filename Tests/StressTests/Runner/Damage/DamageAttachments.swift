// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport

/// Attachments of documents in samples. Each kind of content storage occurs.
enum DamageAttachments {
  /// Content in its own row, in overflow pages, and in two chunks.
  private static let contents = [
    (key: "person-1", name: "icon", content: bytes(300)),
    (key: "person-4", name: "photo", content: bytes(20_000)),
    (key: "person-7", name: "film", content: bytes(262_144 + 5_000)),
  ]

  private static func bytes(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ $0 >> 8 &+ count) })
  }

  static func add(to people: DocumentCollection) throws {
    for (key, name, content) in contents {
      try people.attach(.data(content), named: name, contentType: "image/png", to: key)
    }
  }

  /// The references to all contents, as another store computes them.
  private static let known: [Attachment: Data] = {
    let found = try? Store(.memory).using { store in
      try contents.map { (try store.addAttachment(.data($0.content)), $0.content) }
    }
    return Dictionary(found ?? [], uniquingKeysWith: { first, _ in first })
  }()

  /// Reads the attachments of each document. Content that does not match its digest is a failure, whether or not
  /// `verify` reports a problem: each piece is compared with the digest before it is returned (docs/ATTACHMENTS.md).
  static let operations: [DamageUse.Operation] = contents.map(\.key).flatMap { key in
    [
      DamageUse.Operation("attachments \(key)") { store in
        try store["people"].attachments(of: key).all().map { named in
          let content = try store.data(of: named.attachment)
          try check(content, named.attachment)
          return "\(named.name) \(content.count)"
        }.joined(separator: ",")
      },
      DamageUse.Operation("pieces of attachments \(key)") { store in
        try store["people"].attachments(of: key).all().map { named in
          var content = Data()
          try store.each(of: named.attachment) { content.append(contentsOf: $0) }
          try check(content, named.attachment)
          let length = Int(clamping: named.attachment.length)
          guard length > 100 else { return "" }
          let range = length - 90..<length - 10
          let part = try store.data(of: named.attachment, in: range)
          try require(part == content[range], "a range of \(named.name) has other content")
          return "\(named.name) \(part.count)"
        }.joined(separator: ",")
      },
    ]
  }

  private static func check(_ content: Data, _ attachment: Attachment) throws {
    let expected = known.first { $0.key.digest == attachment.digest }?.value
    try require(
      content == expected, "the content of \(attachment.digest) does not match its digest")
  }

  /// Whether a problem of a recovered store is a reference to content that was damaged, which the report must list: a
  /// document is saved with its references, also if their content is lost.
  ///
  /// Rows that were deleted or changed with SQL leave no trace. Without its key, nothing shows that the keyed hash of an
  /// encrypted content was changed.
  static func isLost(
    _ problem: VerificationProblem, _ report: RecoveryReport, _ mutation: DamageMutation
  ) -> Bool {
    guard problem.message.hasSuffix("whose content is missing") else { return false }
    let isDamagedReference = !known.keys.contains { problem.message.contains($0.digest) }
    return isDamagedReference || mutation.sort == "rows" || mutation.sample == .encrypted
      || report.losses.contains { $0.subject == "attachments" }
  }

  /// The digests of the contents that can be read.
  static func readable(_ store: Store) -> Set<String> {
    Set(
      known.filter { attachment, content in (try? store.data(of: attachment)) == content }
        .map(\.key.digest))
  }
}
