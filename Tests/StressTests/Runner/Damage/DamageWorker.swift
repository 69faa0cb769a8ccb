// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// A process that tries mutations, one after the other.
final class DamageWorker {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread = Data()
  /// How it ended.
  private(set) var end = "ended"

  init(seed: UInt64, folder: URL) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["damage", "--seed", "\(seed)", "--child", folder.path]
    var environment = ProcessInfo.processInfo.environment
    // What crashed is known by its number; finding out where takes seconds each time.
    environment["SWIFT_BACKTRACE"] = environment["SWIFT_BACKTRACE"] ?? "enable=no"
    process.environment = environment
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// What it says of a mutation; nil if it dies of it or takes too long.
  func ask(_ number: Int, patience: Double) -> DocumentObject? {
    input.fileHandleForWriting.write(Data("\(number)\n".utf8))
    let deadline = Date(timeIntervalSinceNow: patience)
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = unread[unread.startIndex..<end]
        unread = Data(unread[unread.index(after: end)...])
        if let said = try? DocumentObject(json: Data(line)), said["number"] != nil { return said }
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

/// What a process of a trial may use, so that an allocation without bounds is a crash.
enum DamageLimits {
  /// Bytes of address space: six connections may map 1 GiB each.
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
