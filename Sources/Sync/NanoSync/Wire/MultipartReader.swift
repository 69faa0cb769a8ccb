// SPDX-License-Identifier: MIT

import Foundation

/// Reads the parts of a multipart message (RFC 2046) that arrives in pieces, one part at a time.
package final class MultipartReader {
  /// The headers of a part, with names in lowercase.
  package typealias Headers = [(name: String, value: String)]

  /// The error of a message that is not well-formed.
  package struct Malformed: Error, Sendable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
  }

  private let receive: () async throws -> [UInt8]?
  private let delimiter: [UInt8]
  /// What has arrived and has not been returned.
  private var buffer: [UInt8]
  private var isAtEnd = false
  private var state = State.preamble

  private enum State {
    case preamble
    case part
    case betweenParts
    case end
  }

  /// The maximum length of the headers of a part. Arbitrary.
  private static let maximumHeaders = 16 << 10

  package init(boundary: String, _ receive: @escaping () async throws -> [UInt8]?) {
    self.receive = receive
    delimiter = Array("\r\n--\(boundary)".utf8)
    // The first boundary may be at the beginning.
    buffer = [0x0D, 0x0A]
  }

  /// Returns the boundary of a content type; nil if it is not multipart or has none.
  package static func boundary(of contentType: String) -> String? {
    guard contentType.lowercased().hasPrefix("multipart/") else { return nil }
    return parameter("boundary", of: contentType)
  }

  /// Returns a parameter of a header's value, such as `filename`.
  package static func parameter(_ name: String, of value: String) -> String? {
    for part in value.split(separator: ";").dropFirst() {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2,
        sides[0].trimmingCharacters(in: .whitespaces).lowercased() == name
      else { continue }
      let text = sides[1].trimmingCharacters(in: .whitespaces)
      guard text.hasPrefix("\""), text.hasSuffix("\""), text.count >= 2 else {
        return text.isEmpty ? nil : text
      }
      return String(text.dropFirst().dropLast())
    }
    return nil
  }

  /// Skips the rest of a part, and returns the headers of the next one; nil after the last.
  package func nextPart() async throws -> Headers? {
    while state == .preamble || state == .part {
      if try await piece() == nil { break }
    }
    guard state == .betweenParts else { return nil }
    return try await headers()
  }

  /// Returns more of the part; nil at its end.
  package func nextPiece() async throws -> [UInt8]? {
    guard state == .part else { return nil }
    return try await piece()
  }

  /// Returns the rest of the part.
  ///
  /// - Throws: ``Malformed`` if it is longer than the limit.
  package func collect(limit: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try await nextPiece() {
      bytes += piece
      guard bytes.count <= limit else { throw Malformed(reason: "too long") }
    }
    return bytes
  }

  /// Returns bytes before the next delimiter; nil if it has been reached.
  private func piece() async throws -> [UInt8]? {
    while true {
      if let found = position(of: delimiter) {
        let bytes = Array(buffer[..<found])
        guard bytes.isEmpty else {
          buffer.removeFirst(found)
          return bytes
        }
        return try await afterDelimiter()
      }
      // The end may be the beginning of a delimiter.
      let safe = buffer.count - delimiter.count + 1
      if safe > 0 {
        let bytes = Array(buffer[..<safe])
        buffer.removeFirst(safe)
        return bytes
      }
      guard try await more() else { throw Malformed(reason: "the message ends inside a part") }
    }
  }

  /// Returns whether there was another part after a delimiter.
  private func afterDelimiter() async throws -> [UInt8]? {
    buffer.removeFirst(delimiter.count)
    while buffer.count < 2 {
      guard try await more() else { throw Malformed(reason: "the message ends after a boundary") }
    }
    if buffer[0] == UInt8(ascii: "-"), buffer[1] == UInt8(ascii: "-") {
      state = .end
      return nil
    }
    // White space may follow the boundary.
    while true {
      if let end = position(of: [0x0D, 0x0A]) {
        guard buffer[..<end].allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else {
          throw Malformed(reason: "a boundary is followed by other text")
        }
        // The line's end stays, so that a part may have no headers.
        buffer.removeFirst(end)
        state = .betweenParts
        return nil
      }
      guard buffer.count < Self.maximumHeaders, try await more() else {
        throw Malformed(reason: "the message ends after a boundary")
      }
    }
  }

  private func headers() async throws -> Headers {
    let blankLine: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    while true {
      if let end = position(of: blankLine) {
        let text = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + blankLine.count)
        // An empty part ends with the delimiter's line end.
        state = .part
        return text.split(separator: "\r\n").compactMap { line in
          guard let colon = line.firstIndex(of: ":") else { return nil }
          return (
            line[..<colon].lowercased(),
            line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
          )
        }
      }
      guard buffer.count < Self.maximumHeaders else {
        throw Malformed(reason: "the headers of a part are too long")
      }
      guard try await more() else { throw Malformed(reason: "the message ends inside headers") }
    }
  }

  private func more() async throws -> Bool {
    guard !isAtEnd else { return false }
    guard let bytes = try await receive() else {
      isAtEnd = true
      return false
    }
    buffer += bytes
    return true
  }

  private func position(of pattern: [UInt8]) -> Int? {
    buffer.withUnsafeBytes { buffer in
      pattern.withUnsafeBytes { pattern in
        guard let base = buffer.baseAddress, let wanted = pattern.baseAddress else { return nil }
        var at = 0
        while at + pattern.count <= buffer.count,
          let found = memchr(base + at, Int32(pattern[0]), buffer.count - at - pattern.count + 1)
        {
          at = UnsafeRawPointer(found) - base
          if memcmp(base + at, wanted, pattern.count) == 0 { return at }
          at += 1
        }
        return nil
      }
    }
  }
}
