// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct SQLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sql",
    abstract: "Run an SQL statement.",
    discussion: """
      Each collection is a table with the columns id, key, type, version, added, revision and \
      body (JSON); docs/SCHEMA.md describes them. A statement that writes requires --write and runs in a \
      transaction; one that modifies internal tables, definitions or settings also requires \
      --internal. Pass values with --arg instead of writing them into the statement.
      """)

  @OptionGroup var database: DatabaseOptions

  @Argument(help: "The statement.")
  var statement: String

  @OptionGroup var arguments: ArgumentOptions

  @Flag(help: "Allow a statement that writes.")
  var write = false

  @Flag(help: "Allow changes to internal tables, definitions and settings.")
  var `internal` = false

  @OptionGroup var format: FormatOptions

  func run() throws {
    do {
      try runStatement()
    } catch let error as StoreError where error.code == .notPermitted {
      let details: KeyValuePairs<StoreError.Detail, String> = [
        .table: error[.table] ?? "", .actual: error[.actual] ?? "", .hint: "--internal allows it",
      ]
      throw StoreError(error.code, error.message, details)
    }
  }

  private func runStatement() throws {
    let parameters = SQLArguments(arguments.positional, named: try arguments.named())
    let configure: (inout SQLiteConfiguration) -> Void = { $0.allowsInternalWrites = `internal` }
    try database.withStore(write ? .changing : .reading, configure: configure) { store in
      try Output.run { output in
        if write {
          let changes = try store.engine().write(nil) { try show($0, parameters, output) }
          try output.flush()
          Diagnostics.print(
            changes == 1 ? "changed 1 row" : "changed \(Quantity.count(changes)) rows")
        } else {
          do {
            _ = try store.engine().read(.snapshot, nil) { try show($0, parameters, output) }
          } catch let error as StoreError where error.code == .readOnly {
            throw StoreError(
              .readOnly, "The statement modifies the database", [.hint: "--write allows it"])
          }
        }
      }
    }
  }

  /// Streams the rows to the output, so that a result may be of any size.
  private func show(
    _ reader: any EngineReader, _ parameters: SQLArguments, _ output: Output
  ) throws -> Int {
    guard let reader = reader as? any SQLReader else {
      throw StoreError(.unsupported, "The engine does not support SQL", [.capability: "sql"])
    }
    var rows: RowPrinter?
    func begin(_ columns: [String]) throws -> RowPrinter {
      let printer = format.rows(columns, to: output)
      try printer.begin()
      rows = printer
      return printer
    }
    let summary = try reader.sql(statement, parameters) { row in
      try (rows ?? begin(row.columns)).add(row.values)
      return true
    }
    if rows == nil, summary.columns.isEmpty { return summary.changes }
    try (rows ?? begin(summary.columns)).finish()
    return summary.changes
  }
}
