// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

enum OutputFormat: String, EnumerableFlag {
  case json, ndjson, csv, table

  static func help(for format: OutputFormat) -> ArgumentHelp? {
    switch format {
    case .json: "A JSON array."
    case .ndjson: "One JSON object per line; the default if the output is not a terminal."
    case .csv: "Comma-separated values with a header."
    case .table: "A table that fits the terminal; the default on a terminal."
    }
  }
}

/// The output format options.
struct FormatOptions: ParsableArguments {
  @Flag(exclusivity: .exclusive)
  var format: OutputFormat?

  @OptionGroup var json: JSONOutputOptions

  @Flag(help: "JSON with one line per field.")
  var pretty = false

  /// The specified format, or the default for the kind of output.
  var chosen: OutputFormat { format ?? (Terminal.isOutput ? .table : .ndjson) }

  func rows(_ columns: [String], to output: Output) -> RowPrinter {
    RowPrinter(columns, chosen, isPlain: json.plain, isPretty: pretty, to: output)
  }
}

/// How documents are written as JSON.
struct JSONOutputOptions: ParsableArguments {
  @Flag(
    help:
      "Plain JSON: write dates and data as strings, without Extended JSON such as {\"$date\": …}.")
  var plain = false
}

/// How JSON input is parsed.
struct JSONInputOptions: ParsableArguments {
  @Flag(help: "Store Extended JSON such as {\"$date\": …} as plain objects, without converting it.")
  var plain = false

  var dialect: JSONDialect { plain ? .plain : .extended }
}

/// Properties of the terminal.
enum Terminal {
  static let isOutput = isatty(STDOUT_FILENO) != 0
  static let isDiagnostics = isatty(STDERR_FILENO) != 0

  /// The width in columns of an output that is not a terminal; arbitrary, roughly a page.
  private static let defaultWidth = 100

  static var width: Int {
    if let set = ProcessInfo.processInfo.environment["COLUMNS"].flatMap({ Int($0) }), set > 0 {
      return set
    }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return defaultWidth
    }
    return Int(size.ws_col)
  }
}
