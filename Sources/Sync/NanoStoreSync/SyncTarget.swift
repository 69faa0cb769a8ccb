// SPDX-License-Identifier: MIT

public import Foundation
public import NanoStoreCore

/// The other side of a synchronization.
public struct SyncTarget: Sendable {
  enum Form: Sendable {
    case url(String, SyncCredentials)
    case store(Store)
  }
  let form: Form

  /// A server that speaks the replication protocol of CouchDB: NanoStore's, Apache CouchDB, Cloudant, PouchDB Server.
  ///
  /// ```swift
  /// .url("https://sync.example.com", credentials: .password(user: "ada", password: secret))
  /// ```
  ///
  /// - Parameters:
  ///   - url: The URL of the server. Each collection is the database of the same name below it.
  ///   - credentials: Who you are to the server. They are not stored, and are not part of errors and logs.
  public static func url(_ url: String, credentials: SyncCredentials = .none) -> SyncTarget {
    SyncTarget(form: .url(url, credentials))
  }

  /// The same for a `URL`.
  public static func url(_ url: URL, credentials: SyncCredentials = .none) -> SyncTarget {
    .url(url.absoluteString, credentials: credentials)
  }

  /// Another store of this process, with whatever engine.
  public static func store(_ store: Store) -> SyncTarget { SyncTarget(form: .store(store)) }
}

/// How a client authenticates to a server.
public enum SyncCredentials: Sendable, Hashable {
  /// Not at all.
  case none
  /// With name and password, sent with each request (HTTP Basic). Use HTTPS.
  case password(user: String, password: String)
  /// With a token, sent with each request (HTTP Bearer). Use HTTPS.
  case token(String)
  /// With name and password, sent once for a cookie that later requests have.
  case session(user: String, password: String)
}

/// The directions of a synchronization.
public enum SyncDirection: Sendable, Hashable {
  /// Changes of the other side are stored here.
  case pull
  /// Changes of this store are stored at the other side.
  case push
  /// Both.
  case both
}

/// When a synchronization ends.
public enum SyncMode: Sendable, Hashable {
  /// When everything that has changed so far is transferred.
  case once
  /// When it is stopped. Until then it transfers changes as they happen, and waits while the other side cannot be reached.
  case continuous
}
