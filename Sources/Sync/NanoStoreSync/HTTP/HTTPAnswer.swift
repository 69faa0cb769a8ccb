// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NanoDocument
import NanoSync

/// The answer to a request, whose body arrives while it is read.
struct HTTPAnswer: Sendable {
  let status: Int
  let headers: HTTPHeaders
  let watch: ProgressWatch
  private let body: HTTPClientResponse.Body
  private let silence: Duration

  /// The longest answer that is not a list of documents or changes. Arbitrary: several times the answer about a thousand
  /// documents with many conflicts.
  private static let maximumLength = 64 << 20
  /// The longest text of an error that is read.
  private static let maximumErrorLength = 64 << 10

  init(_ response: HTTPClientResponse, _ watch: ProgressWatch, silence: Duration) {
    status = Int(response.status.code)
    headers = response.headers
    body = response.body
    self.watch = watch
    self.silence = silence
  }

  var isSuccess: Bool { (200..<300).contains(status) }

  /// Calls a closure with each piece of the body until it returns false.
  func each(_ visit: (UnsafeRawBufferPointer) throws -> Bool) async throws {
    var pieces = try pieces()
    while let piece = try await pieces.next() {
      guard try piece.withUnsafeReadableBytes(visit) else { return }
    }
  }

  /// Whether the body is compressed.
  private var isCompressed: Bool {
    ["gzip", "x-gzip", "deflate"].contains(headers.first(name: "Content-Encoding")?.lowercased())
  }

  func pieces() throws -> Pieces {
    Pieces(
      base: body.makeAsyncIterator(), watch: watch, silence: silence,
      gzip: isCompressed ? GzipReader() : nil)
  }

  /// The body in pieces, decompressed.
  struct Pieces {
    var base: HTTPClientResponse.Body.AsyncIterator
    let watch: ProgressWatch
    let silence: Duration
    let gzip: GzipReader?
    /// Receives the bytes as they arrive.
    var onArrival: ((ByteBuffer) -> Void)?

    mutating func next() async throws -> ByteBuffer? {
      watch.wait(atMost: silence)
      defer { watch.stop() }
      let piece = try await base.next()
      // A canceled body ends like a complete one.
      try Task.checkCancellation()
      guard let piece else {
        try gzip?.finish()
        return nil
      }
      onArrival?(piece)
      return try gzip?.read(piece) ?? piece
    }
  }

  /// Returns the whole body.
  func bytes(atMost limit: Int = maximumLength) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    try await each { piece in
      guard bytes.count + piece.count <= limit else {
        throw PeerError(.invalidAnswer, "The peer's answer is too long", status: status)
      }
      bytes += piece
      return true
    }
    return bytes
  }

  /// Returns the body as JSON.
  func value() async throws -> DocumentValue {
    let bytes = try await bytes()
    guard let value = try? DocumentValue(json: bytes, dialect: .plain) else { throw invalid() }
    return value
  }

  func object() async throws -> DocumentObject {
    guard let object = try await value().object else { throw invalid() }
    return object
  }

  func invalid() -> PeerError {
    PeerError(
      .invalidAnswer, "The peer's answer with status \(status) is not one of a CouchDB database",
      status: status)
  }

  /// Reads the rest, so that the connection can be used again.
  func discard() async {
    _ = try? await bytes(atMost: Self.maximumErrorLength)
  }

  /// The name and the reason of an error.
  func reported() async throws -> (name: String, reason: String) {
    let bytes = try await bytes(atMost: Self.maximumErrorLength)
    let object = try? DocumentObject(json: bytes, dialect: .plain)
    return (object?["error"]?.string ?? "", object?["reason"]?.string ?? "")
  }

  /// Returns the error of an answer without success.
  func failure() async throws -> PeerError {
    let (name, reason) = try await reported()
    return PeerError(status: status, name: name, reason: reason, headers: headers)
  }
}

extension PeerError {
  /// The error that the status, the name and the reason of an answer report.
  init(status: Int, name: String, reason: String, headers: HTTPHeaders = [:]) {
    let isDatabaseMissing = reason == "Database does not exist." || reason == "no_db_file"
    let kind: PeerError.Kind =
      switch status {
      case 401: .unauthorized
      case 403: .forbidden
      case 404 where isDatabaseMissing: .noDatabase
      case 408, 425, 429, 500, 502...504: .unavailable
      // Codes of proxies for servers that do not answer.
      case 520...530: .unavailable
      case 413: .tooLarge
      case 200..<300: .invalidAnswer
      default: .refused
      }
    var message = "The peer answered with status \(status)"
    if (300..<400).contains(status) { message += ", a redirect; use the URL of its target" }
    if !name.isEmpty { message += ": \(name.prefix(Self.maximumReason))" }
    if !reason.isEmpty { message += ": \(reason.prefix(Self.maximumReason))" }
    self.init(
      kind, message, status: status,
      retryAfter: headers.first(name: "Retry-After").flatMap { RetryAfter.duration($0) })
  }

  /// The number of characters of a reason that are kept. Arbitrary.
  private static let maximumReason = 200
}
