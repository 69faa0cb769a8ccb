// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// A helper process that uses a store as it is told.
final class OtherProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var received = Data()

  /// A user whom permissions bind and who owns no file here.
  static let nobody = 65534

  /// - Parameters:
  ///   - user: A user whom permissions bind, for tests that run as root.
  ///   - shell: Commands of a shell that is the process before, such as one that sets the umask.
  init(asNobody user: Bool = false, shell: String? = nil) throws {
    let helper = Self.products + "/nanostore-test-helper"
    if user, getuid() == 0 {
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

  // Not by closing its input: a helper that was started meanwhile may hold that open.
  deinit { kill() }

  /// Where the tests and the helper were built.
  private static var products: String {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath
    let program = bundle ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: program).standardizedFileURL.deletingLastPathComponent().path
  }

  /// Whether a process of another user can be started here, as tests of permissions need.
  static var canRunAsNobody: Bool {
    guard let other = try? OtherProcess(asNobody: true) else { return false }
    return (try? other.ask("unknown")) == "error invalidArgument"
  }

  /// Gives a command and waits for its answer.
  @discardableResult
  func ask(_ words: String...) throws -> String {
    try tell(words.joined(separator: "\t"))
    return try answer()
  }

  func tell(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// The next line; empty at the end.
  func answer() throws -> String {
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
