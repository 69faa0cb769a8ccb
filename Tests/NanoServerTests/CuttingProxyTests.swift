// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
import Testing

@Suite("Connection-cutting proxy", .timeLimit(.minutes(10)))
struct CuttingProxyTests {
  @Test("The proxy forwards and counts bytes") func forwards() throws {
    let server = try EchoServer()
    let proxy = try CuttingProxy(beforePort: server.port)
    let client = try Line(to: proxy.port)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
    // The echo has to be read concurrently.
    let sending = Thread { try? client.send(bytes) }
    sending.start()
    #expect(client.receive(bytes.count) == bytes)
    #expect(proxy.bytes(.toServer) == bytes.count)
    #expect(proxy.bytes(.toClient) == bytes.count)
    #expect(proxy.connections == 1)
    #expect(proxy.openConnections == 1)
  }

  @Test(
    "The proxy cuts a connection after the specified bytes to the server",
    arguments: [0, 1, 5, 100_000])
  func cutsAfterBytesToServer(_ count: Int) throws {
    let server = try EchoServer()
    let proxy = try CuttingProxy(beforePort: server.port)
    let client = try Line(to: proxy.port)
    try client.send([1, 2, 3])
    #expect(client.receive(3) == [1, 2, 3])
    proxy.cut(afterBytesToServer: count)
    try? client.send([UInt8](repeating: 7, count: 100_000))
    _ = client.receive(.max)
    #expect(server.wait(for: 3 + count))
    #expect(proxy.bytes(.toServer) == 3 + count)
    // The limit applies only once.
    let other = try Line(to: proxy.port)
    try other.send([9])
    #expect(other.receive(1) == [9])
  }

  @Test(
    "The proxy cuts a connection after the specified bytes to the client", arguments: [0, 1, 5])
  func cutsAfterBytesToClient(_ count: Int) throws {
    let server = try EchoServer()
    let proxy = try CuttingProxy(beforePort: server.port)
    let client = try Line(to: proxy.port)
    proxy.cut(afterBytesToClient: count)
    try client.send([1, 2, 3, 4, 5, 6, 7])
    #expect(client.receive(.max) == Array([1, 2, 3, 4, 5, 6, 7].prefix(count)))
    #expect(server.wait(for: 7))
    #expect(proxy.bytes(.toClient) == count)
  }

  @Test(
    "The proxy finishes or resets all connections",
    arguments: [CuttingProxy.Ending.finished, .reset])
  func cutsAll(_ ending: CuttingProxy.Ending) throws {
    let server = try EchoServer()
    let proxy = try CuttingProxy(beforePort: server.port)
    let clients = try (0..<5).map { _ in try Line(to: proxy.port) }
    for client in clients {
      try client.send([1])
      #expect(client.receive(1) == [1])
    }
    proxy.cutAll(ending)
    for client in clients {
      #expect(client.receive(1) == [])
      #expect(client.wasReset == (ending == .reset))
    }
    let end = ContinuousClock.now + .seconds(300)
    while proxy.openConnections > 0, ContinuousClock.now < end { usleep(1_000) }
    #expect(proxy.openConnections == 0)
  }

  @Test("The proxy refuses new connections, and accepts them again") func refusesNewConnections()
    throws
  {
    let server = try EchoServer()
    let proxy = try CuttingProxy(beforePort: server.port)
    proxy.refuseNew = true
    #expect(try Line(to: proxy.port).receive(1) == [])
    #expect(proxy.connections == 0)
    proxy.refuseNew = false
    let client = try Line(to: proxy.port)
    try client.send([1])
    #expect(client.receive(1) == [1])
  }

  @Test("The proxy delays bytes in both directions") func delays() throws {
    let server = try EchoServer()
    let proxy = try CuttingProxy(beforePort: server.port)
    proxy.delay(.toServer, by: .milliseconds(100))
    proxy.delay(.toClient, by: .milliseconds(50))
    let client = try Line(to: proxy.port)
    let time = try ContinuousClock().measure {
      try client.send([1])
      #expect(client.receive(1) == [1])
    }
    #expect(time >= .milliseconds(150))
  }

  @Test("A commit whose acknowledgment is lost is durable", .postgres) func lostAcknowledgment()
    throws
  {
    let server = try #require(PostgresServer.shared)
    let proxy = try CuttingProxy(before: server)
    try server.psql("CREATE TABLE lost_answer(x int)")
    try server.psql("", url: proxy.url())
    let greeting = proxy.bytes(.toClient)
    // One byte more than the greeting. With fewer, the connection would be cut before the query is sent.
    proxy.cut(afterBytesToClient: greeting + 1)
    #expect(throws: (any Error).self) {
      try server.psql("INSERT INTO lost_answer VALUES (1)", url: proxy.url())
    }
    #expect(try server.psql("SELECT x FROM lost_answer") == "1")
  }
}
