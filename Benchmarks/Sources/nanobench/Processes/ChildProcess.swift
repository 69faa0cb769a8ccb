// SPDX-License-Identifier: MIT

import Foundation

/// This program in a new process, which performs one job and prints its measurements.
enum ChildProcess {
  /// - Parameter job: The name of a job and its arguments.
  static func run(_ job: [String]) throws -> [String: Double] {
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["--child"] + job
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ChildFailure(job: job, status: process.terminationStatus)
    }
    return try JSONDecoder().decode([String: Double].self, from: data)
  }

  /// Performs a job in this process, and prints its measurements.
  static func perform(_ job: [String]) throws {
    var arguments = job
    let name = arguments.isEmpty ? "" : arguments.removeFirst()
    let result: [String: Double]
    if let product = ColdProduct(rawValue: name), arguments.count == 2 {
      result = try product.measure(file: arguments[0], key: arguments[1])
    } else if let job = MemoryJob(rawValue: name), let count = arguments.last.flatMap({ Int($0) }) {
      result = try job.measure(file: arguments[0], count: count)
    } else {
      throw ChildFailure(job: job, status: nil)
    }
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }
}

struct ChildFailure: Error, CustomStringConvertible {
  let job: [String]
  let status: Int32?

  var description: String {
    let end = status.map { "ended with the status \($0)" } ?? "is not a job of a child process"
    return "\"\(job.joined(separator: " "))\" \(end)"
  }
}
