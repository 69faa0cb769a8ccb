// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation

/// Runs pgbench with a statement that does what a call does.
struct PgBench {
  let program: String
  let url: String

  /// Returns the transactions per second.
  func rate(_ operation: Operation, _ clients: Int, _ seconds: Double) throws -> Double {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "writerbench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let setup = folder.appending(path: "setup.sql")
    try Data(Self.setup(operation, clients).utf8).write(to: setup)
    _ = try run(["-n", "-t", "1", "-f", setup.path(), url])
    let script = folder.appending(path: "script.sql")
    try Data(Self.script(operation).utf8).write(to: script)
    // Not for a time: the signal that ends it does not reach a child process of this one.
    let first = try rate(script, clients, 20, 0)
    let count = max(20, Int(first * seconds) / clients)
    let limit = operation == .remove ? Workload.removable / clients - 21 : count
    return try rate(script, clients, min(count, limit), 20)
  }

  private func rate(
    _ script: URL, _ clients: Int, _ transactions: Int, _ start: Int
  ) throws -> Double {
    let output = try run([
      "-n", "-M", "prepared", "-c", "\(clients)", "-j", "\(min(clients, 2))", "-D",
      "i=\(start - 1)",
      "-t", "\(transactions)", "-f", script.path(), url,
    ])
    guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
      let rate = Double(line.dropFirst(6).prefix { $0 != " " })
    else { throw ValidationError("pgbench printed no rate: \(output)") }
    return rate
  }

  private func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self)
  }

  /// The columns and indexes of a collection, and the documents.
  private static func setup(_ operation: Operation, _ clients: Int) -> String {
    var lines = [
      "DROP TABLE IF EXISTS pgbench_documents, pgbench_operations",
      """
      CREATE TABLE pgbench_documents (id bigserial PRIMARY KEY, key text COLLATE "C", type text COLLATE "C", \
      version bigint, added bigint NOT NULL, revision bigint NOT NULL, body jsonb NOT NULL, source text)
      """,
      "CREATE UNIQUE INDEX ON pgbench_documents (key) WHERE key IS NOT NULL",
      "CREATE TABLE pgbench_operations (id uuid PRIMARY KEY, result jsonb)",
      """
      INSERT INTO pgbench_documents (key, added, revision, body, source) SELECT 'k' || i, 0, 1, \
      '\(Workload.json("1"))', '\(Workload.json("1"))' FROM generate_series(0, \(Workload.keys - 1)) AS i
      """,
    ]
    if operation == .remove {
      lines.append(
        """
        INSERT INTO pgbench_documents (key, added, revision, body, source) SELECT 'r' || c || '_' || i, 0, 1, \
        '\(Workload.json("1"))', '\(Workload.json("1"))' FROM generate_series(0, \(clients - 1)) AS c, \
        generate_series(0, 20000) AS i
        """)
    }
    return lines.map { $0 + ";\n" }.joined()
  }

  private static func values(_ key: String) -> String {
    "(\(key), 0, 1, '\(Workload.json("1"))', '\(Workload.json("1"))')"
  }
  private static let insert =
    "INSERT INTO pgbench_documents AS t (key, added, revision, body, source) VALUES "
  private static let replace =
    " ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET body = excluded.body, "
    + "source = excluded.source, revision = t.revision + 1"
  private static let update =
    "UPDATE pgbench_documents SET body = '\(Workload.json("2"))', source = '\(Workload.json("2"))', "
    + "revision = revision + 1 WHERE key = 'k' || :k"

  private static func script(_ operation: Operation) -> String {
    let key = "\\set k random(0, \(Workload.keys - 1))\n"
    switch operation {
    case .save: return key + insert + values("'k' || :k") + replace + " RETURNING id;\n"
    case .insert: return insert + values("gen_random_uuid()::text") + " RETURNING id;\n"
    case .update: return key + update + ";\n"
    case .remove:
      return
        "\\set i :i + 1\nDELETE FROM pgbench_documents WHERE key = 'r' || :client_id || '_' || :i;\n"
    case .apply:
      return key + "\\set l random(0, \(Workload.keys - 1))\nBEGIN;\n"
        + "INSERT INTO pgbench_operations VALUES (gen_random_uuid(), '[[1,2],[3,4]]');\n"
        + insert + values("'k' || least(:k, :l)") + replace + " RETURNING id, revision;\n"
        + insert + values("'k' || greatest(:k, :l)") + replace
        + " RETURNING id, revision;\nCOMMIT;\n"
    case .block:
      return key + "BEGIN;\nSELECT * FROM pgbench_documents WHERE key = 'k' || :k FOR UPDATE;\n"
        + update + ";\nCOMMIT;\n"
    }
  }
}
