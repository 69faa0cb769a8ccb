// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore
import NanoStorePostgres

@main
struct WriterBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "writerbench",
    abstract: "Measures concurrent writers of one collection on PostgreSQL against pgbench.",
    discussion: """
      For each operation and number of writers, pgbench runs an equivalent statement on a table with the same columns \
      and indexes; then one store with that many tasks, and that many processes with a store each, run the call.
      """)

  @Argument(help: "The URL of a database that is not otherwise in use.")
  var url: String

  @Option(help: "The pgbench program.")
  var pgbench = "pgbench"

  @Option(help: "Seconds per measurement.")
  var seconds = 4.0

  @Option(help: "The numbers of writers.")
  var writers: [Int] = [1, 4, 16, 64]

  @Option(help: "Run only these operations.")
  var only: [Operation] = []

  @Flag(help: "Track the changes of the collection.")
  var tracked = false

  @Option(help: "Write the Markdown table to this file.")
  var markdown: String?

  @Option(help: .hidden)
  var worker: Int?

  func run() async throws {
    if let worker { return try await work(worker) }
    var rows: [Row] = []
    for operation in only.isEmpty ? Operation.allCases : only {
      for count in writers {
        let row = Row(
          operation: operation, writers: count,
          pgbench: try PgBench(program: pgbench, url: url).rate(operation, count, seconds),
          tasks: try await tasks(operation, count), processes: try await processes(operation, count)
        )
        print(row.text)
        rows.append(row)
      }
    }
    let report = Row.report(rows, seconds, delay: try await commitDelay())
    print(report)
    if let markdown { try Data(report.utf8).write(to: URL(filePath: markdown)) }
  }

  /// Returns how long the server waits before it flushes commits to the disk, in microseconds.
  private func commitDelay() async throws -> Int {
    let store = try await store(connections: 1)
    let rows = try await store.sql("SELECT current_setting('commit_delay')::bigint AS delay")
    try await store.close()
    return Int(rows.first?["delay"]?.int ?? 0)
  }

  private func store(connections: Int) async throws -> Store {
    var postgres = PostgresConfiguration()
    postgres.schema = "writerbench"
    postgres.maximumConnections = connections
    postgres.busyTimeout = .seconds(60)
    return try await Store.postgres(url, engine: postgres)
  }

  /// Returns the calls per second of one store with several tasks.
  private func tasks(_ operation: Operation, _ count: Int) async throws -> Double {
    let store = try await store(connections: count + 1)
    let workload = Workload(store, operation)
    try await workload.fill(count, tracked: tracked)
    let rate = try await workload.run(Array(0..<count), seconds)
    try await store.close()
    return rate
  }

  /// Returns the calls per second of several processes with one store each.
  private func processes(_ operation: Operation, _ count: Int) async throws -> Double {
    let store = try await store(connections: 2)
    try await Workload(store, operation).fill(count, tracked: tracked)
    try await store.close()
    let processes = try (0..<count).map { number in
      let process = Process()
      process.executableURL = URL(filePath: CommandLine.arguments[0])
      process.arguments = [
        url, "--only", operation.rawValue, "--worker", "\(number)", "--seconds", "\(seconds)",
      ]
      let output = Pipe()
      let input = Pipe()
      (process.standardOutput, process.standardInput) = (output, input)
      try process.run()
      return (process, output, input)
    }
    // Each reports that it is ready, and begins when all are.
    for (_, output, _) in processes { _ = output.fileHandleForReading.readData(ofLength: 1) }
    for (_, _, input) in processes { input.fileHandleForWriting.write(Data("x".utf8)) }
    return processes.reduce(0) { sum, process in
      let text = process.1.fileHandleForReading.readDataToEndOfFile()
      process.0.waitUntilExit()
      return sum + (Double(String(decoding: text, as: UTF8.self)) ?? .nan)
    }
  }

  private func work(_ number: Int) async throws {
    let store = try await store(connections: 2)
    let workload = Workload(store, only[0])
    try await workload.warmUp(number)
    FileHandle.standardOutput.write(Data("r".utf8))
    _ = FileHandle.standardInput.readData(ofLength: 1)
    let rate = try await workload.run([number], seconds)
    FileHandle.standardOutput.write(Data("\(rate)".utf8))
    try await store.close()
  }
}

/// A call on one collection.
enum Operation: String, CaseIterable, ExpressibleByArgument {
  case save, insert, update, remove, apply, block
}
