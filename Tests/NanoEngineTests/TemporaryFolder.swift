// SPDX-License-Identifier: MIT

import Foundation

/// A folder that is deleted with the last reference to it.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "NanoEngineTests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String = "store.db") -> String { path + "/" + name }
}
