// SPDX-License-Identifier: MIT

import Foundation

/// The user that runs the server, because PostgreSQL refuses to run as root.
struct ServerUser: Sendable {
  /// The words before a command that switch the user.
  let prefix: [String]
  /// The owner of the server's folder, if it is a different user.
  private let owner: (user: uid_t, group: gid_t)?

  /// Nil for root without a user `postgres`, or without a program to switch the user.
  static let current: ServerUser? = {
    guard getuid() == 0 else { return ServerUser(prefix: [], owner: nil) }
    guard let entry = getpwnam("postgres"),
      let program = Installation.firstProgram("setpriv", in: Installation.pathFolders)
    else { return nil }
    return ServerUser(
      prefix: [program, "--reuid=postgres", "--regid=postgres", "--init-groups", "--"],
      owner: (entry.pointee.pw_uid, entry.pointee.pw_gid))
  }()

  /// Creates a folder for the server. Its path is short, because socket paths are limited in length.
  func makeFolder() throws -> String {
    // Root's temporary folder may be inaccessible to other users.
    let parent = owner == nil ? NSTemporaryDirectory() : "/tmp/"
    let name = "nanostore-pg-" + String(UInt32.random(in: .min ... .max), radix: 36)
    let path = (parent.hasSuffix("/") ? parent : parent + "/") + name
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try own(path)
    return path
  }

  /// Changes the owner of a file to the server's user.
  func own(_ path: String) throws {
    guard let owner else { return }
    guard chown(path, owner.user, owner.group) == 0 else {
      throw CocoaError(.fileWriteNoPermission, userInfo: [NSFilePathErrorKey: path])
    }
  }
}
