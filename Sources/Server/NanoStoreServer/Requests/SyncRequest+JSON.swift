// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

extension SyncRequest {
  /// Rejects bodies that are not JSON: forms and scripts of other pages cannot send this type without consent.
  func requireJSON() throws(ProtocolError) {
    guard contentType == SyncResponse.json else {
      throw ProtocolError(415, "bad_content_type", "Content-Type must be application/json")
    }
  }

  /// Returns the body of a request that is no document, as an object; an empty one if there is no body.
  func object(limit: Int, isOptional: Bool = false) async throws -> DocumentObject {
    let bytes = try await plainBody(limit: limit).collect(limit: limit)
    if bytes.isEmpty, isOptional { return [:] }
    let value = try Self.value(bytes)
    guard let object = value.object else {
      throw ProtocolError.badRequest("Request body must be a JSON object")
    }
    return object
  }

  static func value(_ bytes: [UInt8]) throws(ProtocolError) -> DocumentValue {
    do {
      return try DocumentValue(json: bytes, dialect: .plain)
    } catch {
      throw .badRequest("invalid UTF-8 JSON")
    }
  }

  /// Returns a parameter that is JSON; nil if it is missing.
  func json(_ name: String) throws(ProtocolError) -> DocumentValue? {
    guard let text = self[name] else { return nil }
    return try Self.value(Array(text.utf8))
  }

  /// Returns a parameter that is a number of at least 0; nil if it is missing.
  func count(_ name: String) throws(ProtocolError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw ProtocolError(
        400, "query_parse_error", "Invalid value for integer: \"\(text)\"")
    }
    return number
  }

  /// Returns a member of a body that is a number of at least 0; nil if it is missing.
  static func count(_ value: DocumentValue?) throws(ProtocolError) -> Int? {
    guard let value, value != .null else { return nil }
    guard let number = value.int, number >= 0 else {
      throw ProtocolError(400, "query_parse_error", "Invalid value for positive integer")
    }
    return number
  }

  /// Returns a parameter that is a revision; nil if it is missing or empty.
  func revision(_ name: String = "rev") throws(ProtocolError) -> RevisionID? {
    guard let text = self[name], !text.isEmpty else { return nil }
    guard let revision = RevisionID(text) else { throw .badRequest("Invalid rev format") }
    return revision
  }

  /// The revision that a write names in its parameters or in `If-Match`.
  ///
  /// - Throws: ``ProtocolError`` if they differ.
  func namedRevision() throws(ProtocolError) -> RevisionID? {
    let tag = (headers[.ifMatch] ?? "").trimmingSpaces.filter { $0 != "\"" }
    let parameter = try revision()
    guard !tag.isEmpty, tag != "*" else { return parameter }
    guard let matched = RevisionID(tag) else { throw .badRequest("Invalid rev format") }
    guard parameter == nil || parameter == matched else {
      throw .badRequest("Document rev and etag have different values")
    }
    return matched
  }

  /// Returns a path below the server, encoded, for the header `Location`.
  func location(_ components: [String]) -> String {
    prefix + components.map { "/" + $0.percentEncoded }.joined()
  }
}

extension String {
  /// The text with everything but unreserved characters of URLs escaped.
  var percentEncoded: String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in utf8 {
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-._~".utf8.contains(byte)
      bytes += isPlain ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
