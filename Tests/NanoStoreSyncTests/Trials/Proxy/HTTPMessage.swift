// SPDX-License-Identifier: MIT

import NIOCore

/// A request or the head of an answer as it was sent.
struct HTTPMessage {
  /// The first line and the headers, without the empty line after them.
  var lines: [String]
  var body: [UInt8]

  var bytes: [UInt8] { Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body }

  /// The method of a request.
  var method: String { word(0) }
  /// The path of a request, with the query.
  var target: String { word(1) }
  private func word(_ index: Int) -> String {
    let words = lines[0].split(separator: " ")
    return words.count > index ? String(words[index]) : ""
  }

  func header(_ name: String) -> String? {
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == name {
        return parts[1].trimmingCharacters(in: .whitespaces)
      }
    }
    return nil
  }

  /// Returns the message with or without the request to close the connection after the answer.
  func closing(_ closes: Bool) -> HTTPMessage {
    var message = self
    message.lines.removeAll { $0.lowercased().hasPrefix("connection:") }
    if closes { message.lines.insert("Connection: close", at: 1) }
    return message
  }
}

/// Reads messages from the pieces that a connection receives.
struct HTTPMessageReader {
  private var pieces: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  private var bytes: [UInt8] = []

  init(_ stream: NIOAsyncChannelInboundStream<ByteBuffer>) { pieces = stream.makeAsyncIterator() }

  /// Returns the next request with its body, whose length clients always state; nil at the end.
  mutating func request() async throws -> HTTPMessage? {
    guard var message = try await head() else { return nil }
    let length = message.header("content-length").flatMap { Int($0) } ?? 0
    while bytes.count < length { guard try await more() else { return nil } }
    message.body = Array(bytes.prefix(length))
    bytes.removeFirst(length)
    return message
  }

  /// Returns the next head; nil at the end.
  mutating func head() async throws -> HTTPMessage? {
    while true {
      if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
        let text = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        bytes.removeFirst(end.upperBound)
        return HTTPMessage(lines: text.components(separatedBy: "\r\n"), body: [])
      }
      guard try await more() else { return nil }
    }
  }

  /// Returns the next bytes after a head; nil at the end.
  mutating func piece() async throws -> [UInt8]? {
    if bytes.isEmpty { guard try await more() else { return nil } }
    defer { bytes = [] }
    return bytes
  }

  private mutating func more() async throws -> Bool {
    guard let piece = try await pieces.next() else { return false }
    bytes += piece.readableBytesView
    return true
  }
}
