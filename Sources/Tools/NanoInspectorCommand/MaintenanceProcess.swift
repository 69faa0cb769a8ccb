// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoCLI
import NanoInspector

extension MaintenanceTask: ExpressibleByArgument {}

/// Maintenance in a process of its own, which can be ended at any time, because the engines do not interrupt it.
///
/// Ending the process in the middle leaves the documents as they were: verification only reads, and a compaction that
/// was not committed is discarded. A server completes the statement that it is executing.
enum MaintenanceProcess {
  /// Runs a task in a new process of this program, and returns the outcome as JSON. Canceling ends the process.
  static func run(_ task: MaintenanceTask, _ options: InspectOptions) async throws -> [UInt8] {
    let process = Process()
    process.executableURL = Bundle.main.executableURL?.resolvingSymlinksInPath()
    process.arguments =
      ["--perform", task.rawValue] + (options.write ? ["--write"] : [])
      + (options.immutable ? ["--immutable"] : []) + ["--", options.database]
    let output = Pipe()
    // The process ends when this pipe is closed, and so with this process.
    let lifeline = Pipe()
    process.standardInput = lifeline
    process.standardOutput = output
    try process.run()
    return try await withTaskCancellationHandler {
      let bytes = await outcome(of: process, output)
      withExtendedLifetime(lifeline) {}
      try Task.checkCancellation()
      guard process.terminationReason == .exit, process.terminationStatus < 2 else {
        throw Unexpected(task: task, status: process.terminationStatus)
      }
      guard process.terminationStatus == 0 else { throw MaintenanceFailure(json: bytes) }
      return bytes
    } onCancel: {
      // Not SIGTERM, which the process ignores if this one does.
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
  }

  /// Waits on a thread of its own.
  private static func outcome(of process: Process, _ output: Pipe) async -> [UInt8] {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let bytes = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        continuation.resume(returning: Array(bytes))
      }
    }
  }

  struct Unexpected: Error, CustomStringConvertible {
    let task: MaintenanceTask
    let status: Int32

    var description: String {
      "The process that was started to \(task.rawValue) the store ended unexpectedly, with status \(status)"
    }
  }

  /// Runs a task in the new process, and prints its outcome.
  static func perform(_ task: MaintenanceTask, _ options: InspectOptions) async throws {
    Thread.detachNewThread {
      while let data = try? FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
      // No more than the system does for a process that is killed.
      _exit(3)
    }
    do {
      let store = try InspectedStore.open(
        options.database, allowsWrites: options.write, isImmutable: options.immutable)
      let outcome = try await task.run(on: store)
      // Before the outcome is printed, which an error could not follow.
      try store.close()
      try FileHandle.standardOutput.write(contentsOf: outcome)
    } catch {
      try FileHandle.standardOutput.write(contentsOf: MaintenanceFailure(error).json)
      throw ExitCode.failure
    }
  }
}
