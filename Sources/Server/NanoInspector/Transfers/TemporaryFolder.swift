// SPDX-License-Identifier: MIT

import Foundation

/// A folder for one file that only this user can read. It is removed with the last reference.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(
      path: "nanostore-inspector-\(UUID().uuidString)", directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Self.failure(error)
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  static func failure(_ error: any Error) -> RouteError {
    RouteError(
      status: 500, code: "inputOutput",
      message:
        "A file in the temporary folder cannot be written or read: \(error.localizedDescription)")
  }
}
