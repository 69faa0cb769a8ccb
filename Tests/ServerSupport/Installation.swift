// SPDX-License-Identifier: MIT

import Foundation

/// The location of the server programs. Version 15 is the first that supports ICU database collations.
public struct Installation: Sendable {
  public let folder: String
  public let version: Int

  /// The installation in the search path, or else the newest one in the package managers' folders.
  static let found: Installation? = {
    guard ServerUser.current != nil else { return nil }
    // Debian's search path contains only psql, and Homebrew links only the selected version.
    let others = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"].flatMap { parent in
      ((try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [])
        .map { "\(parent)/\($0)/bin" }
    }
    let candidates = others + ["/usr/pgsql/bin", "/usr/local/pgsql/bin"]
    return pathFolders.lazy.compactMap { Installation(folder: $0) }.first
      ?? candidates.compactMap { Installation(folder: $0) }.max { $0.version < $1.version }
  }()

  /// Returns nil if the folder lacks any of the programs, or if their version is too old.
  private init?(folder: String) {
    let programs = ["pg_ctl", "initdb", "psql", "pg_basebackup"]
    guard programs.allSatisfy({ Self.firstProgram($0, in: [folder]) != nil }),
      let output = try? Program.run([folder + "/pg_ctl", "--version"]),
      let version = output.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }),
      version >= 15
    else { return nil }
    self.folder = folder
    self.version = version
  }

  func program(_ name: String) -> String { folder + "/" + name }

  static let pathFolders = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":").map(String.init)

  static func firstProgram(_ name: String, in folders: [String]) -> String? {
    folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
