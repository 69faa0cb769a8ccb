// SPDX-License-Identifier: MIT

import NIOCore
import NIOPosix
import NanoTesting
import Synchronization

/// An HTTP proxy that cuts, delays, repeats, reorders and refuses requests at random.
final class FaultyProxy: Sendable {
  private struct State {
    var random: SplitMix
    var rate: Double
    var serverPort: Int
    var planned: [ProxyFault] = []
    var faults = 0
    var log: [String] = []
  }
  private let state: Mutex<State>
  private let port: Int

  var url: String { "http://127.0.0.1:\(port)" }
  /// The number of requests that did not go through.
  var faults: Int { state.withLock(\.faults) }
  /// The methods and targets of the requests so far.
  var log: [String] { state.withLock(\.log) }

  /// The part of requests that do not go through.
  var rate: Double {
    get { state.withLock(\.rate) }
    set { state.withLock { $0.rate = newValue } }
  }
  /// The port of the server, which may change.
  var serverPort: Int {
    get { state.withLock(\.serverPort) }
    set { state.withLock { $0.serverPort = newValue } }
  }

  /// Plans faults for the next requests, whatever the rate is.
  func plan(_ faults: [ProxyFault]) { state.withLock { $0.planned += faults } }
  func forgetLog() { state.withLock { $0.log = [] } }

  private init(port: Int, serverPort: Int, rate: Double, seed: UInt64) {
    self.port = port
    state = Mutex(State(random: SplitMix(seed: seed), rate: rate, serverPort: serverPort))
  }

  /// Runs a proxy while a closure runs.
  static func running<Result: Sendable>(
    before serverPort: Int, rate: Double = 0, seed: UInt64 = 0,
    while work: @escaping @Sendable (FaultyProxy) async throws -> Result
  ) async throws -> Result {
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture { try ProxiedConnection(channel) }
      }
    let proxy = FaultyProxy(
      port: listener.channel.localAddress?.port ?? 0, serverPort: serverPort, rate: rate,
      seed: seed)
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        // Not canceled, but closed: connections that a canceled task does not serve would end the process.
        let accepting = Task { try await proxy.accept(listener) }
        try await withTaskCancellationHandler {
          try await accepting.value
        } onCancel: {
          listener.channel.close(promise: nil)
        }
        return nil
      }
      group.addTask { try await work(proxy) }
      defer { group.cancelAll() }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }

  private func accept(_ listener: NIOAsyncChannel<ProxiedConnection, Never>) async throws {
    try await listener.executeThenClose { connections in
      await withDiscardingTaskGroup { group in
        // An error of the listener ends the proxy like its cancellation.
        do {
          for try await connection in connections {
            group.addTask { await self.serve(connection) }
          }
        } catch {}
        group.cancelAll()
      }
    }
  }

  private func serve(_ connection: ProxiedConnection) async {
    // What breaks is what is to be tested.
    try? await connection.channel.executeThenClose { received, sent in
      var reader = HTTPMessageReader(received)
      while let request = try await reader.request() {
        let exchange = ProxiedExchange(
          request: request, client: connection.channel.channel, answer: sent,
          serverPort: serverPort)
        guard try await exchange.run(fault(for: request)) else { return }
      }
    }
  }

  private func fault(for request: HTTPMessage) -> ProxyFault? {
    state.withLock { state in
      state.log.append("\(request.method) \(request.target)")
      var fault: ProxyFault?
      if !state.planned.isEmpty {
        fault = state.planned.removeFirst()
      } else if Double.random(in: 0..<1, using: &state.random) < state.rate {
        fault = .random(&state.random)
      }
      if fault != nil { state.faults += 1 }
      return fault
    }
  }
}

struct ProxiedConnection: Sendable {
  let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

  init(_ channel: any Channel) throws {
    self.channel = try NIOAsyncChannel(wrappingChannelSynchronously: channel)
  }
}
