// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// A helper process that uses a store on command.
final class HelperProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var received = Data()

  /// The `nobody` user, which file permissions apply to and which owns no file here.
  static let nobody = 65534

  /// - Parameters:
  ///   - isNobody: Whether to run as `nobody`, for permission tests that run as root.
  ///   - shell: Shell commands to run before the helper, such as one that sets the umask.
  init(asNobody isNobody: Bool = false, shell: String? = nil) throws {
    let helper = Self.products + "/nanostore-test-helper"
    if isNobody, getuid() == 0 {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [
        "setpriv", "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", helper,
      ]
    } else if let shell {
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", "\(shell); exec \"$0\"", helper]
    } else {
      process.executableURL = URL(fileURLWithPath: helper)
    }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  // Kills the helper instead of closing its input, which a helper started later may have inherited.
  deinit { kill() }

  /// The folder that contains the built tests and helper.
  private static var products: String {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath
    let program = bundle ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: program).standardizedFileURL.deletingLastPathComponent().path
  }

  /// A Boolean value indicating whether a process can run as `nobody`, which permission tests require.
  static var canRunAsNobody: Bool {
    guard let other = try? HelperProcess(asNobody: true) else { return false }
    return (try? other.send("unknown")) == "error invalidArgument"
  }

  /// Sends a command and returns the helper's reply.
  @discardableResult
  func send(_ words: String...) throws -> String {
    try write(words.joined(separator: "\t"))
    return try readReply()
  }

  func write(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Returns the next line, or an empty string at the end of the output.
  func readReply() throws -> String {
    while true {
      if let end = received.firstIndex(of: 0x0A) {
        defer { received = Data(received[(end + 1)...]) }
        return String(decoding: received[..<end], as: UTF8.self)
          .trimmingCharacters(in: .whitespaces)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return "" }
      received.append(more)
    }
  }

  func kill() {
    guard process.isRunning else { return }
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
