// SPDX-License-Identifier: MIT

import Foundation

/// A folder for one file that only this user can read. It is removed with the last reference.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(
      path: "nanostore-inspector-\(UUID().uuidString)", directoryHint: .isDirectory)
    let folder = self.url
    try Self.explaining {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Runs a block that reads or writes a file in the folder.
  static func explaining<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch {
      throw RouteError(
        status: 500, code: "inputOutput",
        message:
          "A file in the temporary folder cannot be written or read: \(error.localizedDescription)"
      )
    }
  }
}
