// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// Checks that many tasks in several processes can use one file in every way at once, as if they ran one after the
/// other.
struct ConcurrencyStressTest: StressTest {
  static let configuration = CommandConfiguration(
    commandName: "concurrency",
    abstract: "Uses one file from many tasks in several processes, and checks the results.")

  @Option(help: "The number of tasks in each process.") var tasks = 8
  @Option(help: "The number of processes.") var processes = 3
  @Option(help: "The duration in seconds.") var seconds = 60.0
  @Option(help: "The seed of the operations. It does not determine their order.")
  var seed = UInt64.random(in: 0...1_000_000_000_000)
  @Option(help: .hidden) var child: Int?
  @Option(help: .hidden) var folder: String?

  func perform() throws -> Figures {
    if let child, let folder {
      return try WorkerPool(child, in: folder, tasks, seconds, seed).run()
    }
    let folder = NSTemporaryDirectory() + "nanostore-concurrency-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    do {
      var figures = try LockPhase(folder: folder).run()
      let shared = SharedFile(folder: folder)
      try shared.prepare()
      let pools = try runChildren(folder)
      for (name, _) in pools.first?.values ?? [] where name != "process" {
        figures[name] = pools.reduce(0) { $0 + $1[name] }
      }
      try shared.check(processes: processes, &figures)
      figures["tasks"] = tasks * processes
      figures["processes"] = processes
      figures["seed"] = Int(seed)
      return figures
    } catch let failure as StressTestFailure {
      throw StressTestFailure(
        "\(failure)\nreproduce with: nanostore-stress concurrency --tasks \(tasks) --processes \(processes) "
          + "--seconds \(seconds) --seed \(seed)")
    }
  }

  /// The time that processes get to end after the run, in seconds. After that, they count as stuck.
  private static let endTimeout = 1_000.0

  /// Runs the processes to completion, and returns the figures of each.
  private func runChildren(_ folder: String) throws -> [Figures] {
    let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
    let children = try (0..<processes).map { number in
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = [
        "concurrency", "--child", "\(number)", "--folder", folder, "--tasks", "\(tasks)",
        "--seconds", "\(seconds)", "--seed", "\(seed &+ UInt64(number))",
      ]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      return (process, output)
    }
    let end = Date().addingTimeInterval(seconds + Self.endTimeout)
    while children.contains(where: { $0.0.isRunning }), Date() < end {
      Thread.sleep(forTimeInterval: 0.05)
    }
    let stuck = children.filter { $0.0.isRunning }
    for (process, _) in stuck { kill(process.processIdentifier, SIGKILL) }
    try require(stuck.isEmpty, "\(stuck.count) processes did not end")
    return try children.map { process, output in
      try require(
        process.terminationReason == .exit && process.terminationStatus == 0,
        "a process ended with \(process.terminationReason == .exit ? "status" : "signal") "
          + "\(process.terminationStatus)")
      let json = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      return try Figures(json: json)
    }
  }
}

extension Figures {
  /// Parses the figures printed by another process.
  fileprivate init(json: String) throws {
    self.init()
    for (name, value) in try DocumentObject(json: json) {
      if let number = value.int { self[name] = Int(number) }
    }
  }
}
