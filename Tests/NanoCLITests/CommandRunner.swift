// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Runs the built `nanostore` in a temporary folder.
final class CommandRunner {
  let folder: URL

  struct Outcome {
    let status: Int32
    let output: String
    let diagnostics: String
    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "nanostore-cli-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The `nanostore` binary of this build, next to the test bundle.
  static let binary: URL = {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
    let beside = bundle.bundleURL.deletingLastPathComponent().appending(path: "nanostore")
    let inside = bundle.bundleURL.appending(path: "nanostore")
    return FileManager.default.isExecutableFile(atPath: beside.path) ? beside : inside
  }()

  @discardableResult
  func run(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
  ) throws -> Outcome {
    try run(arguments, input: input, environment: environment)
  }

  func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> Outcome {
    // Files instead of pipes: a full pipe that is never drained would block the process.
    try write("stdin", input)
    let process = Process()
    process.executableURL = Self.binary
    process.arguments = arguments
    process.currentDirectoryURL = folder
    // A sanitizer's options also apply to the tool.
    let sanitizers = ProcessInfo.processInfo.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }
    process.environment = ["COLUMNS": "80", "HOME": folder.path].merging(sanitizers) { $1 }
      .merging(environment) { $1 }
    let names = ["stdout", "stderr"]
    for name in names { try write(name, "") }
    process.standardInput = try FileHandle(forReadingFrom: folder.appending(path: "stdin"))
    process.standardOutput = try FileHandle(forWritingTo: folder.appending(path: "stdout"))
    process.standardError = try FileHandle(forWritingTo: folder.appending(path: "stderr"))
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationReason == .exit ? process.terminationStatus : -1,
      output: try read("stdout"), diagnostics: try read("stderr"))
  }

  /// Runs a shell command in which `$N` is the binary.
  @discardableResult
  func shell(_ line: String) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "(\(line)) >stdout 2>stderr"]
    process.currentDirectoryURL = folder
    process.environment = ["N": Self.binary.path, "PATH": "/usr/bin:/bin", "COLUMNS": "80"]
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: try read("stdout"),
      diagnostics: try read("stderr"))
  }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: folder.appending(path: name))
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
  }

  func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: name).path)
  }

  /// Imports three films into `library.db`, keyed by title.
  func withFilms() throws -> CommandRunner {
    try write(
      "films.ndjson",
      """
      {"title":"Alien","year":1979,"genres":["Horror","Science Fiction"],"rating":8.5}
      {"title":"Brazil","year":1985,"genres":["Science Fiction"],"rating":7.8}
      {"title":"Caché","year":2005,"genres":["Drama"],"seen":{"$date":"2006-01-02T03:04:05Z"}}

      """)
    let outcome = try run("import", "library.db", "films", "films.ndjson", "--key", "title")
    try #require(outcome.status == 0, "\(outcome.diagnostics)")
    return self
  }
}
