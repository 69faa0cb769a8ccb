// SPDX-License-Identifier: MIT

package import Foundation

/// A folder for the files of one run, one scenario or one variant.
package struct Folder {
  package let url: URL

  /// Creates a folder in the system's temporary folder. Set `TMPDIR` to use a different disk.
  package static func temporary() throws -> Folder {
    try Folder(
      creating: FileManager.default.temporaryDirectory
        .appending(path: "nanobench-\(UUID().uuidString)"))
  }

  package func subfolder(_ name: String) throws -> Folder {
    try Folder(creating: url.appending(path: name))
  }

  /// Returns the path of a file in this folder.
  package func file(_ name: String) -> String {
    url.appending(path: name).path(percentEncoded: false)
  }

  /// Returns the path of a database in this folder, after deleting any existing one.
  package func freshFile(_ name: String) throws -> String {
    for suffix in ["", "-wal", "-shm"] {
      let path = file(name + suffix)
      if FileManager.default.fileExists(atPath: path) {
        try FileManager.default.removeItem(atPath: path)
      }
    }
    return file(name)
  }

  package func remove() throws {
    try FileManager.default.removeItem(at: url)
  }

  private init(creating url: URL) throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    self.url = url
  }
}
