// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore
import NanoStoreSync

/// What one process does and measures.
enum TransferStep: String, ExpressibleByArgument {
  case fill, attach, push, pull, direct

  func run(_ url: String, _ file: String, _ count: Int) async throws -> TransferResult {
    let store = try Store(.file(file))
    if self == .fill || self == .attach {
      if self == .fill {
        try await Sample.fill(store, count)
      } else {
        try await AttachmentTransfer.fill(store, megabytes: count)
      }
      try store.close()
      return TransferResult()
    }
    let target: SyncTarget =
      self == .direct ? .store(try Store(.file(file + ".copy"))) : .url(url)
    let memory = MemoryWatch("self")
    let start = ContinuousClock.now
    let status = try await store.replicate(
      [Sample.collection], with: target, direction: self == .pull ? .pull : .push, mode: .once
    ).finish()
    let seconds = start.duration(to: .now) / .seconds(1)
    let transferred = self == .pull ? status.pulled : status.pushed
    guard transferred == count, status.failures.isEmpty else {
      throw ValidationError(
        "\(rawValue) transferred \(transferred) of \(count), \(status.failures.count) failures")
    }
    // Before the size is counted, which reads the whole file.
    let peak = memory.peak
    let pages = try await store.sql(
      "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name LIKE '%nano_revisions%'")
    try store.close()
    return TransferResult(
      seconds: seconds, kilobytes: peak,
      bytes: Int(pages.first?["bytes"]?.int ?? 0))
  }

  /// Runs this step in a process of its own.
  func inProcess(_ url: String, _ file: String, _ count: Int) throws -> TransferResult {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = [
      url, "--step", rawValue, "--file", file, "--documents", "\(count)",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0, let result = TransferResult(line: text) else {
      throw ValidationError("The step \(rawValue) failed.")
    }
    return result
  }
}

/// The result of a step, printed as JSON.
struct TransferResult: Codable {
  var seconds = 0.0
  var kilobytes: Int?
  /// The size of the tables of revisions.
  var bytes = 0

  init(seconds: Double = 0, kilobytes: Int? = nil, bytes: Int = 0) {
    (self.seconds, self.kilobytes, self.bytes) = (seconds, kilobytes, bytes)
  }

  init?(line: Data) {
    guard let value = try? JSONDecoder().decode(Self.self, from: line) else { return nil }
    self = value
  }

  var line: String {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
