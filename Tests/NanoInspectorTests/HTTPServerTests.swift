// SPDX-License-Identifier: MIT

import Foundation
import Logging
import NanoServer
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("The HTTP server")
struct HTTPServerTests {
  /// Responds after a while, and records whether it was cancelled.
  private final class Handler: RequestHandler {
    let wasCancelled = Mutex(false)
    let hasBegun = Mutex(false)

    func respond(to request: ServerRequest) async -> ServerResponse {
      guard request.path == ["slow"] else {
        return .text(200, "\(request.method.rawValue) \(request.path) \(request.body.count)")
      }
      hasBegun.withLock { $0 = true }
      try? await Task.sleep(for: .seconds(3_600))
      wasCancelled.withLock { $0 = Task.isCancelled }
      return .text(200, "slow")
    }

    func stream(for request: ServerRequest) -> EventStream? {
      guard request.path == ["events"] else { return nil }
      return {
        AsyncStream { continuation in
          continuation.yield(Array("data: 1\n\n".utf8))
          continuation.finish()
        }
      }
    }
  }

  /// Sends and receives bodies in parts.
  private final class PartsHandler: RequestHandler {
    func respond(to request: ServerRequest) async -> ServerResponse { .text(404, "none") }

    func download(for request: ServerRequest) async -> ServerDownload? {
      struct Failure: Error {}
      let fails = request["fails"] != nil
      return ServerDownload(
        contentType: "application/octet-stream", fileName: request.path[0],
        length: request["length"].flatMap { Int($0) }
      ) { write in
        for part in 0..<40 { try await write(Array(repeating: UInt8(part), count: 10_000)) }
        if fails { throw Failure() }
      }
    }

    func upload(for request: ServerRequest) -> ServerUpload? {
      { body in
        var (bytes, sum) = (0, 0)
        while let part = try? await body.next() {
          bytes += part.count
          sum += part.reduce(0) { $0 + Int($1) }
        }
        return .text(200, "\(body.length ?? -1) \(bytes) \(sum)")
      }
    }
  }

  private func withServer(
    _ body: @escaping @Sendable (URL) async throws -> Void
  ) async throws { try await withServer(Handler(), body) }

  private func withServer(
    _ handler: some RequestHandler, link: OneTimeLink? = nil,
    _ body: @escaping @Sendable (URL) async throws -> Void
  ) async throws {
    let token = AccessToken()
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    var configuration = HTTPServerConfiguration()
    configuration.maximumBody = 1_000
    let server = HTTPServer(
      handler, rules: AccessRules(token: token, link: link), configuration: configuration,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup { group in
      group.addTask { try await server.run { continuation.yield($0) } }
      var iterator = ports.makeAsyncIterator()
      let port = try #require(await iterator.next())
      try await body(try #require(URL(string: "http://127.0.0.1:\(port)/\(token.text)/")))
      group.cancelAll()
    }
  }

  private static func status(_ request: URLRequest) async throws -> (Int, String) {
    let (data, response) = try await URLSession.shared.data(for: request)
    return (
      (response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self)
    )
  }

  @Test("Requests reach the handler, decoded, and responses have the security headers")
  func responses() async throws {
    try await withServer { url in
      let (data, response) = try await URLSession.shared.data(from: url.appending(path: "a b"))
      let http = try #require(response as? HTTPURLResponse)
      #expect(String(decoding: data, as: UTF8.self) == #"GET ["a b"] 0"#)
      let policy = http.value(forHTTPHeaderField: "Content-Security-Policy") ?? ""
      #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
      #expect(http.value(forHTTPHeaderField: "X-Content-Type-Options") == "nosniff")
    }
  }

  @Test("A request without the token, and a body beyond the limit, do not reach the handler")
  func refusals() async throws {
    try await withServer { url in
      let root = try #require(URL(string: "/", relativeTo: url))
      #expect(try await Self.status(URLRequest(url: root)).0 == 403)
      var request = URLRequest(url: url.appending(path: "x"))
      request.httpMethod = "POST"
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      request.httpBody = Data(count: 900)
      #expect(try await Self.status(request).1 == #"POST ["x"] 900"#)
      request.httpBody = Data(count: 2_000)
      #expect(try await Self.status(request).0 == 413)
      request.setValue("http://evil.example", forHTTPHeaderField: "Origin")
      #expect(try await Self.status(request).0 == 403)
    }
  }

  @Test("A one-time link leads to the page without the token, but not a second time")
  func oneTimeLink() async throws {
    let link = OneTimeLink()
    try await withServer(Handler(), link: link) { url in
      let opened = try #require(URL(string: "/" + link.path, relativeTo: url))
      let first = try await Self.status(URLRequest(url: opened))
      #expect(first.0 == 200 && first.1.hasPrefix("GET"))
      #expect(try await Self.status(URLRequest(url: opened)).0 == 403)
    }
  }

  @Test("A handler is cancelled when the client disconnects")
  func disconnects() async throws {
    let handler = Handler()
    try await withServer(handler) { url in
      let request = URLSession.shared.dataTask(with: url.appending(path: "slow")) { _, _, _ in }
      request.resume()
      while !handler.hasBegun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
      request.cancel()
      while !handler.wasCancelled.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    }
  }

  @Test("A stream of events is sent as it is produced, and ends")
  func streams() async throws {
    try await withServer { url in
      let (data, response) = try await URLSession.shared.data(from: url.appending(path: "events"))
      #expect(String(decoding: data, as: UTF8.self) == "data: 1\n\n")
      #expect(response.mimeType == "text/event-stream")
    }
  }

  @Test(
    "A download is sent in parts with its name; if it fails, the client sees that it is incomplete")
  func downloads() async throws {
    try await withServer(PartsHandler()) { url in
      for query in ["", "?length=400000"] {
        let whole = try #require(URL(string: "a%20b.db" + query, relativeTo: url))
        let (data, response) = try await URLSession.shared.data(from: whole)
        let http = try #require(response as? HTTPURLResponse)
        #expect(data.count == 400_000 && data.last == 39)
        #expect(
          http.value(forHTTPHeaderField: "Content-Disposition")
            == "attachment; filename=\"a b.db\"; filename*=UTF-8''a%20b.db")
        #expect(http.value(forHTTPHeaderField: "X-Content-Type-Options") == "nosniff")
      }
      for query in ["?fails=1", "?fails=1&length=500000"] {
        let broken = try #require(URL(string: "a.db" + query, relativeTo: url))
        await #expect(throws: (any Error).self) {
          _ = try await URLSession.shared.data(from: broken)
        }
      }
    }
  }

  @Test("An upload is received in parts, also beyond the limit of other bodies")
  func uploads() async throws {
    try await withServer(PartsHandler()) { url in
      var request = URLRequest(url: url.appending(path: "import"))
      request.httpMethod = "POST"
      request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
      request.httpBody = Data(repeating: 1, count: 300_000)
      let received = try await Self.status(request)
      #expect(received.1 == "300000 300000 300000")
      request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
      let refused = try await Self.status(request)
      #expect(refused.0 == 415)
    }
  }

  @Test("An operation beyond its time limit is cancelled; a faster one returns")
  func timeLimits() async throws {
    #expect(try await withTimeLimit(.seconds(60)) { 1 } == 1)
    await #expect(throws: TimeLimitExceeded.self) {
      try await withTimeLimit(.milliseconds(1)) { try await Task.sleep(for: .seconds(60)) }
    }
    await #expect(throws: CocoaError.self) {
      try await withTimeLimit(.seconds(60)) { throw CocoaError(.fileNoSuchFile) }
    }
  }
}
