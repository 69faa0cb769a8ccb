// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// The formats of files that `import` reads.
enum InputFormat: String, EnumerableFlag {
  case json, csv, tsv, mongo

  static func help(for format: InputFormat) -> ArgumentHelp? {
    switch format {
    case .json: "A JSON array, lines, or concatenated documents; the default."
    case .csv: "Comma-separated values; the default for a file *.csv."
    case .tsv: "Tab-separated values; the default for a file *.tsv."
    case .mongo: "JSON of mongoexport: like --json, with the field _id as the key."
    }
  }

  /// Returns the format of a file by the end of its name.
  init(file: String) {
    switch NSString(string: file).pathExtension.lowercased() {
    case "csv": self = .csv
    case "tsv", "tab": self = .tsv
    default: self = .json
    }
  }
}

/// The input format options.
struct InputFormatOptions: ParsableArguments {
  @Flag(exclusivity: .exclusive)
  var format: InputFormat?

  @Option(help: ArgumentHelp("The character between CSV fields.", valueName: "character"))
  var separator: String?

  @Option(
    help: ArgumentHelp("CSV columns, separated by commas, that stay strings.", valueName: "a,b.c"))
  var textColumns: String?

  @Flag(help: "Convert no CSV field: all values are strings.")
  var allText = false

  @Flag(help: "Convert CSV fields in quotes too.")
  var convertQuoted = false

  @Option(
    help: ArgumentHelp(
      "What an empty CSV field or an SQL NULL becomes: missing, null or text (CSV only).",
      valueName: "missing|null|text"))
  var empty = EmptyField.missing

  @Flag(help: "Accept CSV rows with fewer fields than the header.")
  var shortRows = false

  func validate() throws {
    if let separator, separator.count != 1 {
      throw ValidationError("--separator requires one character")
    }
  }

  /// Whether an option is set that only applies to CSV and TSV files.
  var hasTableOption: Bool {
    separator != nil || textColumns != nil || allText || convertQuoted || shortRows
  }

  func importFormat(of file: String) throws -> ImportFormat {
    let format = format ?? InputFormat(file: file)
    guard format == .csv || format == .tsv else {
      guard !hasTableOption, empty == .missing else {
        throw ValidationError(
          "--separator, --text-columns, --all-text, --convert-quoted, --empty and --short-rows "
            + "require --csv or --tsv")
      }
      return format == .mongo ? .mongoDB : .json
    }
    return .csv(
      CSVOptions(
        separator: separator?.first ?? (format == .tsv ? "\t" : ","), infersTypes: !allText,
        textColumns: textColumns.map { FieldList.split($0).map { FieldPath($0) } } ?? [],
        infersQuotedFields: convertQuoted, emptyFields: empty.option, acceptsShortRows: shortRows))
  }
}

/// What an empty field becomes.
enum EmptyField: String, ExpressibleByArgument, CaseIterable {
  case missing, null, text

  var option: CSVOptions.EmptyField {
    switch self {
    case .missing: .missing
    case .null: .null
    case .text: .text
    }
  }
}

/// The rows of another SQLite file as the input of `import`.
struct SQLiteInputOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Import rows of a SQLite file.", valueName: "file"),
    completion: .file())
  var fromSqlite: String?

  @Option(help: ArgumentHelp("The table or view of --from-sqlite.", valueName: "name"))
  var table: String?

  @Option(help: ArgumentHelp("The query of --from-sqlite.", valueName: "SELECT …"))
  var query: String?

  func validate() throws {
    guard fromSqlite != nil else {
      guard table == nil, query == nil else {
        throw ValidationError("--table and --query require --from-sqlite")
      }
      return
    }
    guard (table == nil) != (query == nil) else {
      throw ValidationError("--from-sqlite requires --table or --query")
    }
  }

  /// The file and its rows; nil if the input is not a SQLite file.
  var source: (file: URL, rows: SQLiteRows)? {
    guard let fromSqlite, let rows = table.map(SQLiteRows.table) ?? query.map(SQLiteRows.query)
    else { return nil }
    return (URL(filePath: NSString(string: fromSqlite).expandingTildeInPath), rows)
  }
}
