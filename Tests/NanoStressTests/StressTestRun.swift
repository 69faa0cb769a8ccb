// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// A run of `nanostore-stress` in a separate process.
struct StressTestRun {
  let status: Int32
  /// The last line of output, with the figures.
  let figures: DocumentObject
  /// The diagnostics of a failure.
  let report: String

  init(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.products + "/nanostore-stress")
    process.arguments = arguments
    let output = Pipe()
    let log = FileManager.default.temporaryDirectory
      .appending(path: "nanostore-stress-\(UUID().uuidString).log")
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: log) }
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: log)
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    status = process.terminationReason == .exit ? process.terminationStatus : -1
    let last =
      String(decoding: text, as: UTF8.self)
      .split(separator: "\n").last.map(String.init) ?? "{}"
    figures = (try? DocumentObject(json: last)) ?? [:]
    report = String(decoding: try Data(contentsOf: log), as: UTF8.self)
  }

  /// The folder of the built tests and programs.
  private static var products: String {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath
    let program = bundle ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: program).standardizedFileURL.deletingLastPathComponent().path
  }
}
