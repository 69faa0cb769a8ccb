// SPDX-License-Identifier: MIT

public import Foundation

/// A temporary folder that is deleted with this object.
public final class Scratch: Sendable {
  public let path: String

  public init() throws {
    path = NSTemporaryDirectory() + "nanostore-tests-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  public func file(_ name: String) -> String { path + "/" + name }

  public func write(_ bytes: some Sequence<UInt8>, _ name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  public func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: file(name)))
  }

  /// Runs SQL in SQLite's shell, a separate process.
  ///
  /// - Throws: `ShellFailure` if a statement fails.
  public func shell(_ name: String, _ sql: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-cmd", ".timeout 600000", file(name), sql]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ShellFailure() }
  }

  public struct ShellFailure: Error {}

  public var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}
