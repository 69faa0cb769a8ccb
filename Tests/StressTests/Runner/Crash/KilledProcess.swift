// SPDX-License-Identifier: MIT

import Foundation

/// A process that prints lines until it is killed.
final class KilledProcess {
  private let process = Process()
  private let output = Pipe()
  private var received: [UInt8] = []
  private var ended = false

  init(_ program: String, _ arguments: [String]) throws {
    process.executableURL = URL(filePath: Self.folder).appending(path: program)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  /// The folder of the built programs.
  private static let folder = URL(filePath: CommandLine.arguments[0]).standardizedFileURL
    .resolvingSymlinksInPath().deletingLastPathComponent().path

  /// Returns the next line; nil if the process has ended and all of its output was read.
  func line() -> String? {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      guard !ended else { return nil }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { ended = true } else { received += more }
    }
  }

  /// - Returns: Whether the process was still running.
  func kill() -> Bool {
    let wasRunning = process.isRunning
    if wasRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    return wasRunning && process.terminationReason == .uncaughtSignal
  }

  /// Waits for the process to end, and returns its exit status.
  func end() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
