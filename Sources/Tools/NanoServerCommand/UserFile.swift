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
    let text = try Self.contents(of: path)
    // By bytes: as characters, CR LF is one, and so is a colon with a combining mark.
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      guard let first = line.first, first != UInt8(ascii: "#") else { continue }
      let parts = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      guard (2...3).contains(parts.count), !parts[0].isEmpty else {
        throw Problem(
          description:
            "Line \(index + 1) of \(path) is not name:password or name:password:role,role")
      }
      let roles = parts.count == 3 ? Self.roles(parts[2]) : []
      if parts[0].hasSameBytes(as: "*") {
        guard parts[1].isEmpty else {
          throw Problem(
            description:
              "Line \(index + 1) of \(path) has a password for *, which is everyone without a login"
          )
        }
        anonymous = SyncUser(name: nil, roles: roles)
      } else {
        guard !parts[1].isEmpty else {
          throw Problem(description: "Line \(index + 1) of \(path) has an empty password")
        }
        guard entries[ExactName(parts[0])] == nil else {
          throw Problem(
            description: "Line \(index + 1) of \(path) has the same name as an earlier line")
        }
        entries[ExactName(parts[0])] = Entry(
          password: parts[1], user: SyncUser(name: parts[0], roles: roles))
      }
    }
  }

  private static func roles(_ text: String) -> [String] {
    text.utf8.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the text of a file, or of the file that a symbolic link points to, which only its owner can read.
  private static func contents(of path: String) throws -> Data {
    // The permissions are those of the opened file, whichever has the path later.
    var status = stat()
    guard let file = FileHandle(forReadingAtPath: path), fstat(file.fileDescriptor, &status) == 0,
      let data = try? file.readToEnd() ?? Data(), String(validating: data, as: UTF8.self) != nil
    else {
      throw Problem(description: "Cannot read the users in \(path)")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw Problem(
        description: "Other users can read the passwords in \(path); chmod 600 protects them")
    }
    return data.starts(with: byteOrderMark) ? data.dropFirst(byteOrderMark.count) : data
  }

  /// Some editors write it at the start of a file in UTF-8.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

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
