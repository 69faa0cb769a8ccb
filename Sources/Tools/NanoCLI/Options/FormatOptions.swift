// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation

enum OutputFormat: String, EnumerableFlag {
  case json, ndjson, csv, table

  static func help(for format: OutputFormat) -> ArgumentHelp? {
    switch format {
    case .json: "A JSON array."
    case .ndjson: "One JSON object a line; the default if the output is no terminal."
    case .csv: "Comma-separated values with a header."
    case .table: "A table as wide as the terminal; the default on one."
    }
  }
}

/// How results are written.
struct FormatOptions: ParsableArguments {
  @Flag(exclusivity: .exclusive)
  var format: OutputFormat?

  @Flag(help: "JSON without {\"$date\": …} and the like: dates and data are plain text.")
  var plain = false

  @Flag(help: "JSON with a line for each field.")
  var pretty = false

  /// What is asked for, or what suits whoever reads the output.
  var chosen: OutputFormat { format ?? (Terminal.isOutput ? .table : .ndjson) }

  func rows(_ columns: [String], to output: Output) -> RowPrinter {
    RowPrinter(columns, chosen, isPlain: plain, isPretty: pretty, to: output)
  }
}

/// What is known of the terminal.
enum Terminal {
  static let isOutput = isatty(STDOUT_FILENO) != 0
  static let isDiagnostics = isatty(STDERR_FILENO) != 0

  /// Columns of an output that is no terminal; arbitrary, about what a mail or a page shows.
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
