// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// A process that tests mutations one after the other.
final class DamageWorker {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread = Data()
  /// How the process ended.
  private(set) var end = "ended"

  init(seed: UInt64, folder: URL) throws {
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["damage", "--seed", "\(seed)", "--child", folder.path]
    var environment = ProcessInfo.processInfo.environment
    // A crash is identified by the number of the mutation, and a backtrace takes seconds.
    environment["SWIFT_BACKTRACE"] = environment["SWIFT_BACKTRACE"] ?? "enable=no"
    process.environment = environment
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Returns the result of a mutation; nil if the process crashes or times out.
  func ask(_ number: Int, patience: Double) -> DocumentObject? {
    input.fileHandleForWriting.write(Data("\(number)\n".utf8))
    let deadline = Date(timeIntervalSinceNow: patience)
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = unread[unread.startIndex..<end]
        unread = Data(unread[unread.index(after: end)...])
        if let report = try? DocumentObject(json: Data(line)), report["number"] != nil {
          return report
        }
        continue
      }
      guard waitForOutput(until: deadline) else {
        end = "hangs"
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return nil
      }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty {
        process.waitUntilExit()
        end =
          process.terminationReason == .uncaughtSignal
          ? "crashes with signal \(process.terminationStatus)"
          : "ends with status \(process.terminationStatus)"
        return nil
      }
      unread.append(data)
    }
  }

  private func waitForOutput(until deadline: Date) -> Bool {
    var wait = pollfd(
      fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    let left = max(0, deadline.timeIntervalSinceNow)
    return poll(&wait, 1, Int32(left * 1_000)) > 0
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

/// Resource limits of a child process, so that an unbounded allocation causes a crash.
enum DamageLimits {
  /// In bytes. Six connections may map 1 GiB each.
  private static let addressSpace: rlim_t = 12 << 30

  static func apply() {
    var limit = rlimit(rlim_cur: addressSpace, rlim_max: addressSpace)
    #if canImport(Glibc)
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    #else
      setrlimit(RLIMIT_AS, &limit)
    #endif
  }
}
