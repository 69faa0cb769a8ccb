// SPDX-License-Identifier: MIT

import Foundation

/// A process that writes to a file and synchronizes it.
final class SyncProcess: Sendable {
  /// What it prints, line by line.
  let lines: AsyncStream<String>
  private let process: Process

  /// - Parameter count: The number of writes.
  convenience init(_ path: String, url: String, name: String = "p", count: Int, pulls: Bool = true)
    throws
  {
    try self.init(
      "nanostore-sync-test-helper", [path, url, name, "\(count)", pulls ? "both" : "push"])
  }

  init(_ program: String, _ arguments: [String]) throws {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: Self.products + "/" + program)
    process.arguments = arguments
    process.standardOutput = output
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    self.lines = lines
    self.process = process
    try process.run()
    // Not on a thread of Swift concurrency, on which the server may wait.
    Thread.detachNewThread {
      var rest = Data()
      while case let more = output.fileHandleForReading.availableData, !more.isEmpty {
        rest += more
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      process.waitUntilExit()
      continuation.finish()
    }
  }

  deinit { kill() }

  /// The folder of the built programs.
  static var products: String {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath
    return URL(fileURLWithPath: bundle ?? CommandLine.arguments[0]).standardizedFileURL
      .deletingLastPathComponent().path
  }

  func kill() { if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) } }

  /// Reads all lines until the end, and kills the process on the way after some of them.
  func output(
    killingWhen isLast: (_ line: String, _ count: Int) -> Bool = { _, _ in false },
    after pause: Duration = .zero
  ) async -> [String] {
    var all: [String] = []
    var isKilled = false
    for await line in lines {
      all.append(line)
      guard !isKilled, isLast(line, all.count) else { continue }
      isKilled = true
      try? await Task.sleep(for: pause)
      kill()
    }
    return all
  }
}

extension [String] {
  /// The second and third words of the lines that begin with a word.
  func words(_ first: String) -> [(key: String, field: String)] {
    compactMap { line in
      let words = line.split(separator: " ")
      return words.count == 3 && words[0] == first ? ("\(words[1])", "\(words[2])") : nil
    }
  }

  /// The numbers of the last line that begins with a word.
  func numbers(_ first: String) -> [Int]? {
    last { $0.hasPrefix(first + " ") }?.split(separator: " ").dropFirst().compactMap { Int($0) }
  }
}
