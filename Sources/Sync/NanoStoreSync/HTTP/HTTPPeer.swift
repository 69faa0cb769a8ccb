// SPDX-License-Identifier: MIT

package import AsyncHTTPClient
import NIOCore
import NIOHTTP1
package import NanoDocument
package import NanoSync
import Synchronization

/// A database that is reached over HTTP, with the replication protocol of CouchDB.
///
/// All requests can be repeated: a peer that already has a revision ignores it.
package final class HTTPPeer: SyncPeer {
  let connector: HTTPConnector
  /// What the peer was found to lack, in this session.
  private let lacking = Mutex<Set<Feature>>([])

  /// A part of the protocol without which the peer can be used.
  enum Feature: Hashable, Sendable {
    /// Many revisions in one answer.
    case bulkGet
    /// Finding out which revisions are missing.
    case revisionsDiff
  }

  package var url: PeerURL { connector.url }
  package var identity: String { url.identity }

  /// - Parameters:
  ///   - server: The URL of the server. Credentials in it are used if there are no others.
  ///   - database: The name of the database.
  ///   - client: A client with ``configuration(_:)``; the shared one if nil.
  ///   - compresses: Whether large requests are compressed, if the peer understands that.
  /// - Throws: ``/NanoDocument/StoreError/Code/invalidArgument`` for the URL.
  package init(
    server: String, database: String, credentials: SyncCredentials = .none,
    client: HTTPClient? = nil, limits: HTTPLimits = HTTPLimits(), compresses: Bool = true
  ) throws(StoreError) {
    connector = HTTPConnector(
      try PeerURL(server: server, database: database), credentials, client ?? Self.client, limits,
      compresses: compresses)
  }

  /// The client of all peers. It is not shut down, like that of the library, which follows redirects of writes.
  private static let client = HTTPClient(
    eventLoopGroupProvider: .singleton, configuration: configuration())

  /// How long an unused connection stays open. Less than servers and proxies keep theirs, so that a request does not meet
  /// a connection that is being closed.
  private static let idle = TimeAmount.seconds(20)
  /// Feeds keep connections for themselves, one for each database. Arbitrary.
  private static let connections = 256

  /// The configuration of a client for peers.
  package static func configuration(
    _ limits: HTTPLimits = HTTPLimits()
  ) -> HTTPClient.Configuration {
    // Both are done here: credentials do not go to other servers, and digests of compressed content are verified.
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, decompression: .disabled)
    let (seconds, attoseconds) = limits.connecting.components
    configuration.timeout.connect = .nanoseconds(
      seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    configuration.connectionPool.idleTimeout = idle
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    // The replication decides when to try again.
    configuration.connectionPool.retryConnectionEstablishment = false
    // Otherwise a refused connection is an error only after the timeout, on Apple platforms.
    configuration.networkFrameworkWaitForConnectivity = false
    return configuration
  }

  func lacks(_ feature: Feature) -> Bool { lacking.withLock { $0.contains(feature) } }
  func note(lackOf feature: Feature) { lacking.withLock { _ = $0.insert(feature) } }

  package func open(creates: Bool) async throws -> PeerState {
    do {
      return try await state()
    } catch let error as PeerError where error.kind == .noDatabase && creates {
      try await create()
      return try await state()
    }
  }

  private func state() async throws -> PeerState {
    try await connector.send(HTTPCall(.GET, url.text(""))) { answer in
      // Whatever the reason says: nothing else is asked for.
      if answer.status == 404 { throw await Self.noDatabase(answer) }
      guard answer.status == 200 else { throw try await answer.failure() }
      let object = try await answer.object()
      let names = ["db_name", "update_seq", "instance_start_time", "doc_count"]
      guard names.contains(where: { object[$0] != nil }) else { throw answer.invalid() }
      return PeerState(lastSequence: object["update_seq"].flatMap { Self.sequence($0) })
    }
  }

  private func create() async throws {
    var call = HTTPCall(.PUT, url.text(""))
    call.patience = .writing
    try await connector.send(call) { answer in
      // The user was allowed to ask for the database. The reason would blame the login.
      if answer.status == 401 || answer.status == 403 {
        await answer.discard()
        throw PeerError(
          .noDatabase, "The peer has no such database, and does not let this user create it",
          status: answer.status)
      }
      // Another one may have created it meanwhile.
      guard answer.isSuccess || answer.status == 412 else { throw try await answer.failure() }
      await answer.discard()
    }
  }

  static func noDatabase(_ answer: HTTPAnswer) async -> PeerError {
    await answer.discard()
    return PeerError(.noDatabase, "The peer has no such database", status: answer.status)
  }

  /// Returns the text of a position, which may be any JSON; nil for null.
  static func sequence(_ value: DocumentValue) -> String? {
    switch value {
    case .null: nil
    case .string(let text): text
    case .int(let number): String(number)
    default: String(decoding: SyncJSON.bytes(value), as: UTF8.self)
    }
  }
}
