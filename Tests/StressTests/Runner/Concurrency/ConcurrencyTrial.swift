// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// Tasks of several processes that use one file in every way at once find it as if each came after the other.
struct ConcurrencyTrial: Trial {
  static let configuration = CommandConfiguration(
    commandName: "concurrency",
    abstract: "Uses one file from many tasks of many processes, and checks what they saw.")

  @Option(help: "Tasks in each process.") var tasks = 8
  @Option(help: "Processes.") var processes = 3
  @Option(help: "How long they run.") var seconds = 60.0
  @Option(help: "What tasks choose depends on it; in which order they get to it does not.")
  var seed = UInt64.random(in: 0...1_000_000_000_000)
  @Option(help: .hidden) var child: Int?
  @Option(help: .hidden) var folder: String?

  func perform() throws -> Figures {
    if let child, let folder {
      return try Crowd(child, in: folder, tasks, seconds, seed).run()
    }
    let folder = NSTemporaryDirectory() + "nanostore-concurrency-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    do {
      var figures = try LockPhase(folder: folder).run()
      let shared = SharedFile(folder: folder)
      try shared.prepare()
      let crowds = try runChildren(folder)
      for (name, _) in crowds.first?.values ?? [] where name != "process" {
        figures[name] = crowds.reduce(0) { $0 + $1[name] }
      }
      try shared.check(processes: processes, &figures)
      figures["tasks"] = tasks * processes
      figures["processes"] = processes
      figures["seed"] = Int(seed)
      return figures
    } catch let failure as TrialFailure {
      throw TrialFailure(
        "\(failure)\nseen by: nanostore-stress concurrency --tasks \(tasks) --processes \(processes) "
          + "--seconds \(seconds) --seed \(seed)")
    }
  }

  /// Time that processes get to end by themselves: beyond it they are stuck.
  private static let patience = 150.0

  /// Runs the processes to their end, and gives what each counted.
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
    let end = Date().addingTimeInterval(seconds + Self.patience)
    while children.contains(where: { $0.0.isRunning }), Date() < end {
      Thread.sleep(forTimeInterval: 0.05)
    }
    let stuck = children.filter { $0.0.isRunning }
    for (process, _) in stuck { kill(process.processIdentifier, SIGKILL) }
    try require(stuck.isEmpty, "\(stuck.count) processes did not come to an end")
    return try children.map { process, output in
      try require(
        process.terminationReason == .exit && process.terminationStatus == 0,
        "a process ended with \(process.terminationReason == .exit ? "status" : "signal") "
          + "\(process.terminationStatus)")
      let said = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      return try Figures(json: said)
    }
  }
}

extension Figures {
  /// The figures that another process printed.
  fileprivate init(json: String) throws {
    self.init()
    for (name, value) in try DocumentObject(json: json) {
      if let number = value.int { self[name] = Int(number) }
    }
  }
}
