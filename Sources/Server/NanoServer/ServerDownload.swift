// SPDX-License-Identifier: MIT

/// A response whose body is produced while it is sent.
///
/// The status is sent before the body. If the body fails, the connection is closed before the end, so that the client
/// does not mistake the beginning for the whole.
package struct ServerDownload: Sendable {
  /// Writes a part of the body, and returns when the client can receive more.
  package typealias Write = ([UInt8]) async throws -> Void

  package let status: Int
  package let contentType: String
  /// The name under which a browser saves the body; nil if it shows the body.
  package let fileName: String?
  /// The number of bytes; nil if it is unknown.
  package let length: Int?
  /// Produces the body. The task is canceled when the client closes the connection.
  package let body: @Sendable (Write) async throws -> Void

  package init(
    contentType: String, fileName: String, length: Int? = nil,
    body: @escaping @Sendable (Write) async throws -> Void
  ) {
    status = 200
    self.contentType = contentType
    self.fileName = fileName
    self.length = length
    self.body = body
  }

  /// Creates a download that sends a response, such as an error.
  package init(_ response: ServerResponse) {
    status = response.status
    contentType = response.contentType
    fileName = nil
    length = response.body.count
    body = { try await $0(response.body) }
  }

  /// The header that makes browsers save the body; nil if they show it.
  ///
  /// A name is data: characters outside of letters, digits, spaces, `-`, `_` and `.` are escaped as UTF-8, and replaced
  /// in the fallback for clients that do not read the escaped form (RFC 6266).
  package var disposition: String? {
    guard let fileName else { return nil }
    let isPlain = { (byte: UInt8) in
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
    }
    let fallback = fileName.unicodeScalars.map { scalar in
      scalar.isASCII && (isPlain(UInt8(scalar.value)) || scalar == " ") ? Character(scalar) : "_"
    }
    let escaped = fileName.utf8.map { byte in
      guard !isPlain(byte) else { return String(UnicodeScalar(byte)) }
      let hex = String(byte, radix: 16, uppercase: true)
      return "%" + (hex.count == 1 ? "0" : "") + hex
    }
    return
      "attachment; filename=\"\(String(fallback))\"; filename*=UTF-8''\(escaped.joined())"
  }
}
