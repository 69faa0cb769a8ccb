// SPDX-License-Identifier: MIT

/// A user of a sync server.
public struct SyncUser: Sendable, Hashable {
  /// The name; nil for an anonymous user.
  public var name: String?
  /// The roles. A user with the role `_admin` is an administrator of the server.
  public var roles: [String]

  /// Creates a user.
  public init(name: String?, roles: [String] = []) {
    self.name = name
    self.roles = roles
  }

  /// The role of administrators.
  public static let administratorRole = "_admin"

  /// A user without a name and roles.
  public static let anonymous = SyncUser(name: nil)

  /// Whether the user is an administrator of the server.
  public var isAdministrator: Bool { roles.contains(Self.administratorRole) }
}

/// What a client presents to be recognized.
public enum SyncLogin: Sendable, Hashable {
  /// Nothing.
  case none
  /// A name and a password, of HTTP Basic authentication or of a login at `_session`.
  case password(name: String, password: String)
  /// The token of a header `Authorization: Bearer`.
  case token(String)
}

/// The refusal of a request or of a write, which the client receives.
///
/// ```swift
/// throw SyncRejection.forbidden("Only editors may change articles.")
/// ```
public struct SyncRejection: Error, Sendable, Hashable {
  /// The HTTP status: 401 or 403.
  public let status: Int
  /// The reason that the client receives.
  public let reason: String

  /// The user may not do this.
  public static func forbidden(_ reason: String) -> SyncRejection {
    SyncRejection(status: 403, reason: reason)
  }
  /// The user has to log in.
  public static func unauthorized(_ reason: String) -> SyncRejection {
    SyncRejection(status: 401, reason: reason)
  }
}
