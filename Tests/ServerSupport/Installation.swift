// SPDX-License-Identifier: MIT

import Foundation

/// Where the server's programs are. Version 15 is the first whose databases can order text by ICU.
public struct Installation: Sendable {
  public let folder: String
  public let version: Int

  /// Of the search path, else the newest of those that are where packages put them.
  static let found: Installation? = {
    guard ServerUser.current != nil else { return nil }
    // Debian's search path has psql alone, and Homebrew's only links the version it was told to.
    let others = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"].flatMap { parent in
      ((try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [])
        .map { "\(parent)/\($0)/bin" }
    }
    let candidates = others + ["/usr/pgsql/bin", "/usr/local/pgsql/bin"]
    return pathFolders.lazy.compactMap { Installation(folder: $0) }.first
      ?? candidates.compactMap { Installation(folder: $0) }.max { $0.version < $1.version }
  }()

  /// Nil if the folder does not have all the programs, or has those of a version that is too old.
  private init?(folder: String) {
    let programs = ["pg_ctl", "initdb", "psql", "pg_basebackup"]
    guard programs.allSatisfy({ Self.firstProgram($0, in: [folder]) != nil }),
      let answer = try? Program.run([folder + "/pg_ctl", "--version"]),
      let version = answer.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }),
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
