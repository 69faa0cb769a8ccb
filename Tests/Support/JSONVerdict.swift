// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// Bytes and whether they are valid JSON. The cases of JSONTestSuite by Nicolas Seriot keep their names, in which
/// `y_` must be accepted, `n_` must be rejected, and `i_` is implementation-defined. Additional cases start with
/// `own_`.
public struct JSONVerdict: Sendable, CustomStringConvertible {
  public let name: String
  public let bytes: [UInt8]
  public let isAccepted: Bool
  /// The reason for the verdict where the standard leaves a choice.
  public let reason: String?

  public var description: String { name }

  /// The bytes as the value of the field `v`, because a document is an object.
  public var inObject: [UInt8] { Array(#"{"v":"#.utf8) + bytes + Array("}".utf8) }

  public static func all() throws -> [JSONVerdict] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Cases/JSON/verdicts.ndjson").standardizedFileURL
    return try String(decoding: Data(contentsOf: file), as: UTF8.self)
      .split(separator: "\n").map { try JSONVerdict(DocumentObject(json: String($0))) }
  }

  private init(_ fields: DocumentObject) throws {
    var bytes: [UInt8] = []
    if let text = fields["text"]?.string { bytes = Self.bytes(text) }
    for part in fields["parts"]?.array ?? [] {
      guard let text = part["0"]?.string, let times = part["1"]?.int else { continue }
      for _ in 0..<times { bytes += Self.bytes(text) }
    }
    name = fields["name"]?.string ?? ""
    self.bytes = bytes
    isAccepted = fields["ours"] == "accepted"
    reason = fields["why"]?.string
  }

  /// A character below U+0100 represents a byte.
  private static func bytes(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }
}
