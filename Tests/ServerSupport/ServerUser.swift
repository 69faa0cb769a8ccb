// SPDX-License-Identifier: MIT

import Foundation

/// Whom the server runs as: PostgreSQL refuses to run as root.
struct ServerUser: Sendable {
  /// What is put before a command.
  let prefix: [String]
  /// To whom the server's folder is given, if it is not ours.
  private let owner: (user: uid_t, group: gid_t)?

  /// Nil for root on a machine without a user `postgres`, or without a program that changes the user.
  static let current: ServerUser? = {
    guard getuid() == 0 else { return ServerUser(prefix: [], owner: nil) }
    guard let entry = getpwnam("postgres"),
      let program = Installation.firstProgram("setpriv", in: Installation.pathFolders)
    else { return nil }
    return ServerUser(
      prefix: [program, "--reuid=postgres", "--regid=postgres", "--init-groups", "--"],
      owner: (entry.pointee.pw_uid, entry.pointee.pw_gid))
  }()

  /// Makes a folder that the server may use. Its path is short, since that of a socket may not be long.
  func makeFolder() throws -> String {
    // Root's own temporary folder may be closed to others.
    let parent = owner == nil ? NSTemporaryDirectory() : "/tmp/"
    let name = "nanostore-pg-" + String(UInt32.random(in: .min ... .max), radix: 36)
    let path = (parent.hasSuffix("/") ? parent : parent + "/") + name
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try own(path)
    return path
  }

  /// Gives a file that we made to the server.
  func own(_ path: String) throws {
    guard let owner else { return }
    guard chown(path, owner.user, owner.group) == 0 else {
      throw CocoaError(.fileWriteNoPermission, userInfo: [NSFilePathErrorKey: path])
    }
  }
}
