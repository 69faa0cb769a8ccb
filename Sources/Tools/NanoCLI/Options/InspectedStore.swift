// SPDX-License-Identifier: MIT

import Foundation
package import NanoStore

/// Opens stores for the inspector as commands open them.
package enum InspectedStore {
  /// Opens a store that exists: read-only, unless writes are allowed.
  package static func open(
    _ location: String, allowsWrites: Bool, isImmutable: Bool
  ) throws -> Store {
    try StoreLocation.openStore(at: location, allowsWrites ? .changing : .reading) {
      $0.isImmutable = isImmutable
      // Commits of other processes appear on the page within 0.2 seconds.
      $0.changeInterval = .milliseconds(50)
    }
  }

  /// Returns an error of ``open(_:allowsWrites:isImmutable:)`` as one line.
  package static func sentence(_ error: any Error) -> String {
    switch error {
    case let error as StoreError: FailureReport.sentence(error)
    case let failure as CommandFailure: failure.message
    default: TerminalText.text("\(error)")
    }
  }

  /// The parameters of libpq that are secrets.
  static let secrets: Set = [
    "password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret",
  ]

  /// Returns a location without the passwords and other secrets of a URL.
  package static func displayName(of location: String) -> String {
    guard !StoreLocation.isFile(location) else { return location }
    guard var parts = URLComponents(string: location) else {
      // What cannot be parsed may contain a password anywhere.
      return "the database of the given URL"
    }
    parts.password = nil
    parts.queryItems = parts.queryItems?.filter { !secrets.contains($0.name.lowercased()) }
    if parts.queryItems?.isEmpty == true { parts.queryItems = nil }
    return parts.string ?? "the database of the given URL"
  }
}
