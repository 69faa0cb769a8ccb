// SPDX-License-Identifier: MIT

public import Logging
import NanoDocument

/// The settings of a ``SyncServer``.
///
/// ```swift
/// var configuration = SyncServerConfiguration()
/// configuration.port = 5984
/// configuration.authenticate = { credentials in
///   guard case .password(let name, let password) = credentials else { return nil }
///   return try await accounts.user(name, password)
/// }
/// ```
public struct SyncServerConfiguration: Sendable {
  /// The collections that are served; all by default.
  ///
  /// A database has the name of its collection. Names begin with a lowercase letter and contain only lowercase
  /// letters, digits and `_$()+/-`; collections with other names are not served.
  public var databases: SyncDatabases = .all
  /// Identifies users; nil if anyone who reaches the server may do everything.
  ///
  /// The closure receives ``SyncLogin/none`` for a request without credentials, and returns a user for anonymous
  /// access, or nil. For others, nil means that name, password or token are wrong.
  public var authenticate: (@Sendable (SyncLogin) async throws -> SyncUser?)?
  /// What users may read and write.
  public var rules = SyncRules()
  /// Whether administrators may create databases.
  public var allowsCreatingDatabases = false
  /// Whether administrators may delete databases, which deletes the collection.
  public var allowsDeletingDatabases = false

  /// The address to listen on; the loopback interface by default.
  public var address = "127.0.0.1"
  /// The port, CouchDB's by default; 0 lets the system choose one.
  public var port = 5984
  /// Whether a server without ``authenticate`` may listen on an address that other machines reach.
  public var allowsAnonymous = false
  /// Names of this machine that requests may have in the header `Host` when ``authenticate`` is nil, beyond
  /// `localhost` and addresses. A page of another site could otherwise reach the server under the name of that site.
  public var hostNames: [String] = []
  /// The certificate and the key for connections with TLS; nil if connections are not encrypted.
  public var tls: SyncTLS?
  /// The maximum number of connections; others wait to be accepted.
  public var maximumConnections = 20_000
  /// The time that running requests have to finish when the server stops.
  public var shutdownTimeout = Duration.seconds(10)

  /// The origins whose pages may use the server; none by default.
  public var allowedOrigins = SyncOrigins.none
  /// The maximum number of requests of a user, or of an address without a user; nil if there is none.
  public var rateLimit: SyncRateLimit?
  /// The maximum length of a request's body, decompressed; attachments that are sent on their own are not subject to it.
  public var maximumBody = 64 << 20
  /// The maximum length of a document as JSON, without attachments.
  public var maximumDocument = 8_000_000
  /// The maximum length of an attachment that is sent on its own or as part of a multipart message.
  public var maximumAttachment = 4 << 30
  /// The key of session cookies; random by default, so that a restart ends sessions. Servers behind one name share it.
  public var sessionSecret: [UInt8]?
  /// How long a login by `_session` is valid; it is renewed while it is used.
  public var sessionLifetime = Duration.seconds(600)

  /// After this time, a feed of changes whose filter accepts none sends white space: clients take a longer silence for a
  /// broken connection. NanoStore and CouchDB wait 30 seconds.
  var maximumSilence = Duration.seconds(5)

  /// Receives the log.
  public var logger = Logger(label: "nanostore.sync")

  /// Creates the default settings.
  public init() {}

  /// - Throws: ``StoreError/Code/invalidArgument`` for a database that cannot be served, or an origin that no page has.
  func requireReachableNames() throws(StoreError) {
    if case .only(let names) = databases,
      let name = names.sorted().first(where: { !ServedDatabases.isValid($0) })
    {
      throw StoreError(
        .invalidArgument, "A collection of this name cannot be served",
        [
          .collection: name,
          .hint:
            "names of databases begin with a lowercase letter and have only lowercase letters, digits and _$()+/-",
        ])
    }
    if case .only(let origins) = allowedOrigins,
      let origin = origins.sorted().first(where: { !SyncOrigins.isOrigin($0) })
    {
      throw StoreError(
        .invalidArgument, "A page never has this origin",
        [
          .value: origin,
          .hint:
            "an origin has a scheme, a host and maybe a port, such as https://app.example.com; .any allows all",
        ])
    }
  }

  /// Whether the address belongs to the loopback interface.
  package var isLocal: Bool {
    let name = address.lowercased()
    return name == "localhost" || name == "::1" || name == "[::1]" || name.hasPrefix("127.")
  }
}

/// Which collections a sync server serves.
public enum SyncDatabases: Sendable, Hashable {
  /// All collections of applications.
  case all
  /// Collections with these names. Requests for one that does not exist receive 404 until it is created.
  case only(Set<String>)

  func contains(_ name: String) -> Bool {
    switch self {
    case .all: true
    case .only(let names): names.contains { $0.utf8.elementsEqual(name.utf8) }
    }
  }
}

/// The files of a server's certificate.
public struct SyncTLS: Sendable, Hashable {
  /// A file with the certificate and those that sign it, in the PEM format.
  public var certificateFile: String
  /// A file with the private key, in the PEM format.
  public var keyFile: String

  /// Names the files.
  public init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}
