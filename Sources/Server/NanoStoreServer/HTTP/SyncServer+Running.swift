// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import NanoDocument
import NanoServer
import ServiceLifecycle

extension SyncServer {
  /// Serves until the task is canceled or, if `stopsOnSignals` is set, the process receives `SIGINT` or `SIGTERM`.
  ///
  /// Feeds then end, and running requests have ``SyncServerConfiguration/shutdownTimeout`` to finish before they are canceled
  /// and lose their connections. The server can run again afterwards.
  ///
  /// - Parameters:
  ///   - stopsOnSignals: Whether signals stop the server.
  ///   - whenReady: Called with the port when the server accepts connections.
  /// - Throws: `StoreError` with the code `invalidArgument` if other machines could reach a server without users, the
  ///   certificate cannot be read or does not belong to the key, or a name of a database or an origin can never match;
  ///   an I/O error if the server cannot listen.
  public func run(
    stopsOnSignals: Bool = false,
    whenReady: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
  ) async throws {
    let configuration = handler.configuration
    try configuration.requireReachableNames()
    guard
      configuration.authenticate != nil || configuration.isLocal || configuration.allowsAnonymous
    else {
      throw StoreError(
        .invalidArgument, "A sync server without users would be open to other machines",
        [
          .value: configuration.address,
          .hint: "set authenticate, or allowsAnonymous if everyone may read and write",
        ])
    }
    // As in a URL.
    let address = configuration.address.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    var listener = HTTPListener(address: address, port: configuration.port)
    listener.maximumConnections = configuration.maximumConnections
    listener.shutdownTimeout = configuration.shutdownTimeout
    listener.stopsOnSignals = stopsOnSignals
    listener.services = [FeedEnd(handler: handler)]
    listener.server = try configuration.tls.map { try Self.encrypted($0) } ?? HTTPListener.plain
    handler.begin()
    let responder = SyncResponder(handler: handler)
    try await listener.run(
      CallbackResponder<ServerContext> { request, context in
        context.cancelsOnClose()
        return await responder.response(
          to: request, address: context.address, onClose: { context.onClose($0) })
      }, whenReady: whenReady, logger: configuration.logger)
  }

  private static func encrypted(_ tls: SyncTLS) throws -> HTTPServerBuilder {
    let certificates = try read(tls.certificateFile) { try NIOSSLCertificate.fromPEMFile($0) }
    let key = try read(tls.keyFile) { try NIOSSLPrivateKey(file: $0, format: .pem) }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
    // RFC 8996 deprecates older versions, which NIOSSL accepts by default.
    configuration.minimumTLSVersion = .tlsv12
    do {
      // Otherwise the server would fail while it starts, with an error that names no cause.
      _ = try TLSChannel(
        HTTP1Channel(responder: { _, _, _ in }), tlsConfiguration: configuration)
    } catch {
      throw StoreError(
        .invalidArgument, "The certificate and the key of the server cannot be used together",
        [.path: tls.keyFile])
    }
    return try .tls(HTTPListener.plain, tlsConfiguration: configuration)
  }

  /// Reads a PEM file.
  private static func read<Value>(_ path: String, _ work: (String) throws -> Value) throws -> Value
  {
    do {
      return try work(path)
    } catch {
      throw StoreError(
        .invalidArgument, "The certificate or key of the server cannot be read",
        [.path: path, .hint: "use PEM files"])
    }
  }
}

/// Ends feeds before the server waits for running requests.
private struct FeedEnd: Service {
  let handler: SyncHandler

  func run() async throws {
    try? await gracefulShutdown()
    handler.shutDown()
  }
}
