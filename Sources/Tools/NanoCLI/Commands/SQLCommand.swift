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
      guard let hint = error[.hint] else { throw error }
      throw error.replacing(.hint, hint.replacing(Self.setting, with: "--internal allows it"))
    }
  }

  /// What SQLite's engine, the only one with this setting, suggests to a program.
  private static let setting = "allowsInternalWrites in the configuration permits it"

  private func runStatement() throws {
    let parameters = SQLArguments(arguments.positional, named: try arguments.named())
    let configure: (inout SQLiteConfiguration) -> Void = { $0.allowsInternalWrites = `internal` }
    try database.withStore(write ? .changing : .reading, configure: configure) { store in
      try Output.run { output in
        if write {
          let rows = ResultRows(format, output)
          let changes = try store.engine().write(nil) { writer in
            // The statement decides about the transaction, not the reader of its rows.
            try show(writer, parameters) { event in rows.attempt { try rows.show(event) } }
          }
          rows.attempt { try output.flush() }
          Diagnostics.print(
            changes == 1 ? "changed 1 row" : "changed \(Quantity.count(changes)) rows")
          if let failure = rows.failure { throw failure }
        } else {
          let rows = ResultRows(format, output)
          do {
            _ = try store.engine().read(.snapshot, nil) { reader in
              try show(reader, parameters) { try rows.show($0) }
            }
          } catch let error as StoreError where error.code == .readOnly {
            throw StoreError(
              .readOnly, "The statement modifies the database", [.hint: "--write allows it"])
          }
        }
      }
    }
  }

  /// Passes on the rows as they arrive, so that a result may be of any size, and returns the number of changed rows.
  private func show(
    _ reader: any EngineReader, _ parameters: SQLArguments,
    _ show: (ResultRows.Event) throws -> Void
  ) throws -> Int {
    guard let reader = reader as? any SQLReader else {
      throw StoreError(.unsupported, "The engine does not support SQL", [.capability: "sql"])
    }
    let summary = try reader.sql(statement, parameters) { row in
      try show(.row(row))
      return true
    }
    try show(.end(columns: summary.columns))
    return summary.changes
  }
}

/// The rows of a statement, printed in the selected format.
private final class ResultRows {
  enum Event {
    case row(SQLRow)
    case end(columns: [String])
  }

  private let format: FormatOptions
  private let output: Output
  private var printer: RowPrinter?
  /// The first error of an ``attempt(_:)``.
  private(set) var failure: (any Error)?

  init(_ format: FormatOptions, _ output: Output) {
    self.format = format
    self.output = output
  }

  func show(_ event: Event) throws {
    switch event {
    case .row(let row): try begun(row.columns).add(row.values)
    case .end(let columns):
      // A statement without a result has no columns.
      guard printer != nil || !columns.isEmpty else { return }
      try begun(columns).finish()
    }
  }

  private func begun(_ columns: [String]) throws -> RowPrinter {
    if let printer { return printer }
    let new = format.rows(columns, to: output)
    try new.begin()
    printer = new
    return new
  }

  /// Prints, unless that has failed before, and keeps the error.
  func attempt(_ print: () throws -> Void) {
    guard failure == nil else { return }
    do { try print() } catch { failure = error }
  }
}
