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
      try? await Task.sleep(for: .seconds(60))
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

  private func withServer(
    _ handler: Handler = Handler(), _ body: @escaping @Sendable (URL) async throws -> Void
  ) async throws {
    let token = AccessToken()
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    var configuration = HTTPServerConfiguration()
    configuration.maximumBody = 1_000
    let server = HTTPServer(
      handler, rules: AccessRules(token: token), configuration: configuration,
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
