// SPDX-License-Identifier: MIT

import Foundation

/// A folder of its own for a trial, gone with it unless something was found.
final class TrialFolder {
  let path: String
  private var isKept = false

  /// - Parameter base: Where it is made; among temporary files if nil.
  init(_ name: String, in base: String? = nil) throws {
    path = (base ?? NSTemporaryDirectory()) + "/nanostore-trial-\(name)-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { if !isKept { try? FileManager.default.removeItem(atPath: path) } }

  func file(_ name: String) -> String { path + "/" + name }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }

  /// Leaves the folder for somebody to look at.
  func keep() { isKept = true }

  /// Removes all files in it.
  func empty() throws {
    for name in try names { try FileManager.default.removeItem(atPath: file(name)) }
  }
}
