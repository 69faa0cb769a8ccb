// SPDX-License-Identifier: MIT

import Foundation

extension SyncCredentials {
  /// The header that authorizes a request without a session; nil if there is nothing to tell.
  var header: String? {
    switch self {
    case .none: nil
    case .password(let user, let password), .session(let user, let password):
      "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    case .token(let token): "Bearer \(token)"
    }
  }
}

extension SyncCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  /// The kind of the credentials, without names, passwords and tokens.
  public var description: String {
    switch self {
    case .none: "none"
    case .password: "password"
    case .token: "token"
    case .session: "session"
    }
  }
  /// The same as the description.
  public var debugDescription: String { description }
  /// No children, so that `dump` does not print secrets.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
