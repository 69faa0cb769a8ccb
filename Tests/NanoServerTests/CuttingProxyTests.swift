// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct CuttingProxyTests {
  @Test func passesOnAndCounts() throws {
    let server = try EchoServer()
    let proxy = try CuttingProxy(beforePort: server.port)
    let client = try Line(to: proxy.port)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
    // What is echoed has to be read meanwhile.
    let sending = Thread { try? client.send(bytes) }
    sending.start()
    #expect(client.receive(bytes.count) == bytes)
    #expect(proxy.bytes(.toServer) == bytes.count)
    #expect(proxy.bytes(.toClient) == bytes.count)
    #expect(proxy.connections == 1)
    #expect(proxy.openConnections == 1)
  }

  @Test(arguments: [0, 1, 5, 100_000])
  func cutsAfterSoManyBytesToTheServer(_ count: Int) throws {
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
    // The limit is used up.
    let other = try Line(to: proxy.port)
    try other.send([9])
    #expect(other.receive(1) == [9])
  }

  @Test(arguments: [0, 1, 5])
  func cutsAfterSoManyBytesToTheClient(_ count: Int) throws {
    let server = try EchoServer()
    let proxy = try CuttingProxy(beforePort: server.port)
    let client = try Line(to: proxy.port)
    proxy.cut(afterBytesToClient: count)
    try client.send([1, 2, 3, 4, 5, 6, 7])
    #expect(client.receive(.max) == Array([1, 2, 3, 4, 5, 6, 7].prefix(count)))
    #expect(server.wait(for: 7))
    #expect(proxy.bytes(.toClient) == count)
  }

  @Test(arguments: [CuttingProxy.Ending.finished, .reset])
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
    let end = ContinuousClock.now + .seconds(10)
    while proxy.openConnections > 0, ContinuousClock.now < end { usleep(1_000) }
    #expect(proxy.openConnections == 0)
  }

  @Test func refusesAndTakesAgain() throws {
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

  @Test func delaysBothWays() throws {
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

  @Test(.postgres) func aCommitWhoseAnswerIsLost() throws {
    let server = try #require(PostgresServer.shared)
    let proxy = try CuttingProxy(before: server)
    try server.psql("CREATE TABLE lost_answer(x int)")
    try server.psql("", url: proxy.url())
    let greeting = proxy.bytes(.toClient)
    // One byte of the answer, for as many bytes as the greeting has it would be cut before the question.
    proxy.cut(afterBytesToClient: greeting + 1)
    #expect(throws: (any Error).self) {
      try server.psql("INSERT INTO lost_answer VALUES (1)", url: proxy.url())
    }
    #expect(try server.psql("SELECT x FROM lost_answer") == "1")
  }
}
