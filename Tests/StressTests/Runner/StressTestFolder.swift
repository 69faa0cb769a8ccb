// SPDX-License-Identifier: MIT

import Foundation

/// A temporary folder of a stress test, which is deleted with this object unless there was a failure.
final class StressTestFolder {
  let path: String
  private var isKept = false

  /// - Parameter base: The parent folder; the temporary folder if nil.
  init(_ name: String, in base: String? = nil) throws {
    path = (base ?? NSTemporaryDirectory()) + "/nanostore-stress-\(name)-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { if !isKept { try? FileManager.default.removeItem(atPath: path) } }

  func file(_ name: String) -> String { path + "/" + name }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }

  /// Keeps the folder for inspection.
  func keep() { isKept = true }

  /// Removes all files in the folder.
  func empty() throws {
    for name in try names { try FileManager.default.removeItem(atPath: file(name)) }
  }
}
