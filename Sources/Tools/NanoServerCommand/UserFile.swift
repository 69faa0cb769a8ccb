// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreServer

/// The users of a file with a line `name:password` or `name:password:role,role` for each.
struct UserFile: Sendable {
  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  private struct Entry: Sendable {
    var password: String
    var user: SyncUser
  }
  private var entries: [ExactName: Entry] = [:]
  private var anonymous: SyncUser?

  /// - Throws: ``Problem`` if the file cannot be read, others may read it, or a line is malformed.
  init(path: String) throws {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw Problem(description: "Cannot read the users in \(path)")
    }
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    if let mode = attributes?[.posixPermissions] as? Int, mode & 0o077 != 0 {
      throw Problem(
        description: "Other users can read the passwords in \(path); chmod 600 protects them")
    }
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      guard !line.isEmpty, !line.hasPrefix("#") else { continue }
      let parts = line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard (2...3).contains(parts.count), !parts[0].isEmpty else {
        throw Problem(
          description:
            "Line \(index + 1) of \(path) is not name:password or name:password:role,role")
      }
      let roles = parts.count == 3 ? parts[2].split(separator: ",").map(String.init) : []
      if parts[0] == "*" {
        anonymous = SyncUser(name: nil, roles: roles)
      } else {
        entries[ExactName(parts[0])] = Entry(
          password: parts[1], user: SyncUser(name: parts[0], roles: roles))
      }
    }
  }

  func user(_ credentials: SyncLogin) -> SyncUser? {
    switch credentials {
    case .none: return anonymous
    case .token: return nil
    case .password(let name, let password):
      guard let entry = entries[ExactName(name)], Self.areEqual(entry.password, password) else {
        return nil
      }
      return entry.user
    }
  }

  /// Compares in a time that depends on the lengths only.
  private static func areEqual(_ a: String, _ b: String) -> Bool {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
