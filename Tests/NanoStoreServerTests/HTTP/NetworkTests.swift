// SPDX-License-Identifier: MIT

import Foundation
import Hummingbird
import Logging
import NanoDocument
import NanoStore
import NanoStoreServer
import NanoTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("A sync server on the network", .timeLimit(.minutes(10)))
struct NetworkTests {
  private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func withServer(
    _ server: SyncServer, _ body: @escaping @Sendable (URL) async throws -> Void
  ) async throws {
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    try await withThrowingTaskGroup { group in
      group.addTask { try await server.run { continuation.yield($0) } }
      var iterator = ports.makeAsyncIterator()
      let port = try #require(await iterator.next())
      try await body(try #require(URL(string: "http://127.0.0.1:\(port)/")))
      group.cancelAll()
    }
  }

  private static func configuration() -> SyncServerConfiguration {
    var configuration = SyncServerConfiguration()
    configuration.port = 0
    configuration.logger = quiet
    configuration.allowsCreatingDatabases = true
    configuration.shutdownTimeout = .seconds(1)
    return configuration
  }

  private static func send(
    _ method: String, _ url: String, _ body: Data? = nil, headers: [String: String] = [:]
  ) async throws -> (Data, HTTPURLResponse) {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = method
    request.timeoutInterval = 600
    request.httpBody = body
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await URLSession.shared.data(for: request)
    return (data, try #require(response as? HTTPURLResponse))
  }

  @Test("Documents, attachments and errors arrive over HTTP as the handler returns them")
  func exchange() async throws {
    let server = SyncServer(try anyStore(), configuration: Self.configuration())

    try await withServer(server) { url in
      let base = url.absoluteString
      #expect(try await Self.send("PUT", base + "notes").1.statusCode == 201)
      let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      let put = try await Self.send(
        "PUT", base + "notes/a%2Fb/x.bin", large,
        headers: ["Content-Type": "application/octet-stream"])
      #expect(put.1.statusCode == 201)
      let got = try await Self.send("GET", base + "notes/a%2Fb/x.bin")
      #expect(got.0 == large)
      #expect(got.1.value(forHTTPHeaderField: "Content-Length") == "3000000")
      let document = try await Self.send("GET", base + "notes/a%2Fb")
      #expect(try DocumentObject(json: document.0, dialect: .plain)["_id"] == "a/b")
      let missing = try await Self.send("GET", base + "notes/none")
      #expect(missing.1.statusCode == 404)
      let head = try await Self.send("HEAD", base + "notes")
      #expect(head.1.statusCode == 200 && head.0.isEmpty)
      // Twenty at once, on connections that are used again.
      try await withThrowingTaskGroup { group in
        for number in 0..<20 {
          group.addTask {
            let answer = try await Self.send("PUT", base + "notes/n\(number)", Data("{}".utf8))
            #expect(answer.1.statusCode == 201)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("A feed is released when its client closes the connection")
  func disconnect() async throws {
    let store = try anyStore()
    let server = SyncServer(store, configuration: Self.configuration())

    try await withServer(server) { url in
      let base = url.absoluteString
      _ = try await Self.send("PUT", base + "notes")
      let feed = Task {
        try await Self.send("GET", base + "notes/_changes?feed=continuous&heartbeat=60000")
      }
      while server.openFeeds == 0 { try await Task.sleep(for: .milliseconds(5)) }

      feed.cancel()
      _ = await feed.result

      while server.openFeeds > 0 { try await Task.sleep(for: .milliseconds(5)) }
    }
  }

  @Test("A request is canceled when its client closes the connection before the response")
  func abandoned() async throws {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let (canceled, cancel) = AsyncStream.makeStream(of: Void.self)
    var configuration = Self.configuration()
    configuration.authenticate = { _ in
      begin.yield()
      try await withTaskCancellationHandler {
        try await Task.sleep(for: .seconds(600))
      } onCancel: {
        cancel.yield()
      }
      return nil
    }

    try await withServer(SyncServer(try anyStore(), configuration: configuration)) { url in
      let request = Task { try await Self.send("GET", url.absoluteString + "notes/_all_docs") }
      for await _ in begun { break }
      request.cancel()
      _ = await request.result
      for await _ in canceled { break }
    }
  }

  @Test("A server does not start with names that no request can have")
  func unreachableNames() async throws {
    let changes: [@Sendable (inout SyncServerConfiguration) -> Void] = [
      { $0.databases = .only(["notes", "Films"]) },
      { $0.allowedOrigins = .only(["https://app.example.com/"]) },
      { $0.allowedOrigins = .only(["app.example.com"]) },
      { $0.allowedOrigins = .only(["https://App.example.com"]) },
    ]
    for change in changes {
      var configuration = Self.configuration()
      change(&configuration)
      let server = SyncServer(try anyStore(), configuration: configuration)
      let error = await #expect(throws: StoreError.self) { try await server.run() }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test("A server that stops ends its feeds")
  func stop() async throws {
    let server = SyncServer(try anyStore(), configuration: Self.configuration())
    let text = Mutex("")

    try await withServer(server) { url in
      let base = url.absoluteString
      _ = try await Self.send("PUT", base + "notes")
      let feed = Task {
        try await Self.send("GET", base + "notes/_changes?feed=continuous&heartbeat=60000").0
      }
      while server.openFeeds == 0 { try await Task.sleep(for: .milliseconds(5)) }
      server.shutDown()
      let received = try await feed.value
      text.withLock { $0 = String(decoding: received, as: UTF8.self) }
    }

    #expect(text.withLock { $0 }.contains("last_seq"))
  }

  @Test("Canceling a server while clients connect ends only the server")
  func canceled() async throws {
    for _ in 0..<10 {
      let server = SyncServer(try anyStore(), configuration: Self.configuration())
      try await withServer(server) { url in
        for _ in 0..<30 { Task { try? await Self.send("GET", url.absoluteString + "_up") } }
      }
    }
  }

  @Test("A request that does not end in time loses its connection, and the process goes on")
  func slowRequest() async throws {
    let (begun, signal) = AsyncStream.makeStream(of: Void.self)
    let isCanceled = Mutex(false)
    let request = Mutex<Task<Void, any Error>?>(nil)
    var configuration = Self.configuration()
    configuration.shutdownTimeout = .milliseconds(10)
    configuration.authenticate = { _ in
      signal.yield()
      // ServiceGroup would end the process if a canceled service took longer than its limit.
      while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
      isCanceled.withLock { $0 = true }
      let sent = request.withLock(\.self)
      await Task.detached { _ = await sent?.result }.value
      return nil
    }
    let server = SyncServer(try anyStore(), configuration: configuration)

    try await withServer(server) { url in
      let sent = Task { _ = try await Self.send("GET", url.absoluteString + "notes") }
      request.withLock { $0 = sent }
      for await _ in begun { break }
    }

    let sent = try #require(request.withLock { $0 })
    let error = await #expect(throws: URLError.self) { try await sent.value }
    #expect(error?.code != .timedOut)
    #expect(isCanceled.withLock { $0 })
  }

  @Test("The server works under a prefix of another application")
  func mounted() async throws {
    let server = SyncServer(try anyStore(), configuration: Self.configuration())
    let router = Router()
    router.get("hello") { _, _ in "hello" }
    server.addRoutes(to: router.group("api").group("sync"))
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let application = Application(
      router: router,
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: Self.quiet)

    try await withThrowingTaskGroup { group in
      group.addTask { try await application.run() }
      var iterator = ports.makeAsyncIterator()
      let port = try #require(await iterator.next())
      let base = "http://127.0.0.1:\(port)"
      #expect(try await Self.send("GET", base + "/hello").0 == Data("hello".utf8))
      #expect(try await Self.send("GET", base + "/api/sync").1.statusCode == 200)
      #expect(try await Self.send("PUT", base + "/api/sync/notes").1.statusCode == 201)
      let put = try await Self.send("PUT", base + "/api/sync/notes/a%2Fb", Data("{}".utf8))
      #expect(put.1.value(forHTTPHeaderField: "Location") == "/api/sync/notes/a%2Fb")
      #expect(try await Self.send("GET", base + "/api/sync/notes/a%2Fb").1.statusCode == 200)
      #expect(try await Self.send("GET", base + "/api/sync/notes/").1.statusCode == 200)
      #expect(try await Self.send("GET", base + "/notes").1.statusCode == 404)
      group.cancelAll()
    }
  }

  @Test("A server without users refuses to listen on an address of other machines")
  func open() async throws {
    var configuration = Self.configuration()
    configuration.address = "0.0.0.0"
    let server = SyncServer(try anyStore(), configuration: configuration)

    await #expect(throws: StoreError.self) { try await server.run() }
  }
}
