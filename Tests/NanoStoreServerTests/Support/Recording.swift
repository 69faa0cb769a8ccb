// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoSync

/// Recorded exchanges of a client with CouchDB 3.5, which are sent to this server again.
///
/// What CouchDB chose (revisions with other digests of attachments, positions, IDs) is replaced by what this server chose
/// in the same place of an earlier response.
struct Recording {
  struct Exchange {
    let number: Int
    let step: String
    let method: String
    var target: String
    let headers: [String: String]
    var body: [UInt8]
    let status: Int
    let answer: DocumentValue
    /// The response, if it is not JSON.
    let answerBytes: [UInt8]?
  }
  let exchanges: [Exchange]

  init(_ name: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let bytes = [UInt8](
      try Data(contentsOf: folder.appending(path: "Fixtures/\(name).json")))
    exchanges = (try Self.value(bytes).array ?? []).compactMap { $0.object.map { Exchange($0) } }
  }

  private static func value(_ bytes: [UInt8]) throws -> DocumentValue {
    try SyncJSON.value(bytes)
  }
}

extension Recording.Exchange {
  init(_ object: DocumentObject) {
    number = object["n"]?.int ?? 0
    step = object["step"]?.string ?? ""
    method = object["method"]?.string ?? ""
    let line = object["requestLine"]?.string ?? ""
    target = line.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
    var headers: [String: String] = [:]
    for (name, value) in object["requestHeaders"]?.object ?? [:] {
      // Names and passwords are not recorded.
      guard !["Authorization", "Cookie", "Host"].contains(name) else { continue }
      headers[name] = value.string
    }
    self.headers = headers
    body = Self.bytes(object["requestBody"]) ?? []
    status = object["status"]?.int ?? 0
    let answer = object["responseBody"] ?? .null
    self.answer = answer
    answerBytes = answer.object?["$base64"] == nil ? nil : Self.bytes(answer)
  }

  private static func bytes(_ value: DocumentValue?) -> [UInt8]? {
    guard let value, value != .null else { return nil }
    if let text = value.object?["$base64"]?.string {
      return Data(base64Encoded: text).map { [UInt8]($0) }
    }
    return SyncJSON.bytes(value)
  }
}

/// Texts of recorded responses and their counterparts in those of this server.
struct Counterparts {
  private var pairs: [String: String] = [:]

  /// Replaces texts in a request.
  func applied(to text: String) -> String {
    var text = text
    // The longest first: one may begin with another.
    for (old, new) in pairs.sorted(by: { $0.key.count > $1.key.count }) where text.contains(old) {
      text = text.replacing(old, with: new)
    }
    return text
  }

  func applied(to bytes: [UInt8]) -> [UInt8] {
    guard let text = String(validating: bytes, as: UTF8.self) else { return bytes }
    return Array(applied(to: text).utf8)
  }

  /// Members whose values are the server's own.
  private static let opaque: Set<String> = [
    "seq", "last_seq", "update_seq", "purge_seq", "instance_start_time", "uuid", "git_sha",
    "version", "features", "vendor", "sizes", "disk_format_version", "cluster", "props", "pending",
    "digest", "encoding", "encoded_length", "uuids", "bookmark", "ref", "_local_seq",
  ]
  private static let texts: Set<String> = ["seq", "last_seq", "update_seq", "digest"]

  /// Compares a response with the recorded one, and returns the differences.
  mutating func differences(
    _ old: DocumentValue, _ new: DocumentValue, _ path: String = ""
  ) -> [String] {
    switch (old, new) {
    case (.object(let old), .object(let new)):
      var found: [String] = []
      for (name, value) in old {
        guard let other = new[name] else {
          if !Self.opaque.contains(name) { found.append("\(path).\(name) is missing") }
          continue
        }
        if Self.opaque.contains(name) {
          if Self.texts.contains(name), let a = value.string, let b = other.string { pairs[a] = b }
          continue
        }
        found += differences(value, other, "\(path).\(name)")
      }
      for name in new.names where old[name] == nil && !Self.opaque.contains(name) {
        found.append("\(path).\(name) is superfluous")
      }
      return found
    case (.array(let old), .array(let new)):
      guard old.count == new.count else {
        return ["\(path) has \(new.count) elements instead of \(old.count)"]
      }
      // Rows of several shards come in no promised order.
      let (a, b) = (Self.sorted(old), Self.sorted(new))
      var found: [String] = []
      for (index, pair) in zip(a, b).enumerated() {
        found += differences(pair.0, pair.1, "\(path)[\(index)]")
      }
      return found
    case (.string(let old), .string(let new)):
      if old == new { return [] }
      if Self.isRevision(old), Self.isRevision(new) || path.hasSuffix("]") {
        pairs[old] = new
        return []
      }
      if Self.isHash(old), Self.isHash(new) {
        pairs[old] = new
        return []
      }
      return ["\(path) is \(new) instead of \(old)"]
    default: return old == new ? [] : ["\(path) is \(new) instead of \(old)"]
    }
  }

  private static func sorted(_ values: [DocumentValue]) -> [DocumentValue] {
    guard values.allSatisfy({ $0.object?["id"]?.string != nil }) else { return values }
    return values.enumerated().sorted { a, b in
      let (first, second) = (
        a.element.object?["id"]?.string ?? "", b.element.object?["id"]?.string ?? ""
      )
      // IDs that the server chose are last, in their order.
      let (isFirst, isSecond) = (isHash(first), isHash(second))
      if isFirst || isSecond { return isFirst == isSecond ? a.offset < b.offset : isSecond }
      return (first, a.offset) < (second, b.offset)
    }.map(\.element)
  }

  private static func isHash(_ text: String) -> Bool {
    text.count == 32 && text.allSatisfy(\.isHexDigit)
  }

  private static func isRevision(_ text: String) -> Bool {
    let parts = text.split(separator: "-")
    return parts.count == 2 && Int(parts[0]) != nil && isHash(String(parts[1]))
  }
}
