// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport

extension HTTPLimits {
  /// Limits that only what never ends exceeds, on a busy machine too.
  static var patient: HTTPLimits {
    var limits = HTTPLimits()
    limits.connecting = .seconds(600)
    limits.silence = .seconds(600)
    limits.writing = .seconds(600)
    return limits
  }
}

extension ScriptedServer {
  /// A peer for the database `notes` of this server.
  func peer(
    _ credentials: SyncCredentials = .none, limits: HTTPLimits = .patient,
    compresses: Bool = false
  ) throws -> HTTPPeer {
    try HTTPPeer(
      server: url, database: "notes", credentials: credentials, limits: limits,
      compresses: compresses)
  }

  /// Runs a server while a closure uses a peer for it.
  static func serving<Result: Sendable>(
    _ handler: @escaping Handler,
    peer work: @escaping @Sendable (HTTPPeer, ScriptedServer) async throws -> Result
  ) async throws -> Result {
    try await serving(handler) { server in try await work(try server.peer(), server) }
  }
}

extension HTTPLimits {
  /// Limits that a silent server exceeds soon.
  static var short: HTTPLimits {
    var limits = HTTPLimits()
    limits.silence = .milliseconds(50)
    limits.writing = .milliseconds(50)
    limits.waiting = .milliseconds(50)
    return limits
  }
}

/// Returns the error that a call throws; nil if it throws none.
func failure(_ call: () async throws -> some Any) async -> PeerError? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error as? PeerError
  }
}

func wanted(_ id: String, _ revision: String) throws -> WantedRevision {
  WantedRevision(id: id, revision: try revision.revision, ancestors: [])
}

struct NotARevision: Error {}

extension String {
  var revision: RevisionID {
    get throws {
      guard let revision = RevisionID(self) else { throw NotARevision() }
      return revision
    }
  }
}

func hash(_ letter: Character) -> String { String(repeating: letter, count: 32) }

extension [FetchedRevision] {
  /// The entries as text: `n1 1-a`, `n1 1-b missing`, `n1 1-c invalid`.
  var summary: [String] {
    map { entry in
      switch entry {
      case .document(let document):
        "\(document.id ?? "") \(document.revision.map { "\($0)" } ?? "")"
      case .missing(let id, let revision): "\(id) \(revision) missing"
      case .invalid(let id, let revision, _): "\(id) \(revision) invalid"
      }
    }.sorted()
  }
}
