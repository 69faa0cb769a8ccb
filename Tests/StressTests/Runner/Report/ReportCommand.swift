// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// Prints the result tables of docs/RELIABILITY.md from the figures of stress tests.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Prints a table for each stress test, from the last line that it printed.")

  @Argument(help: "A file with the lines of JSON that stress tests printed.")
  var file: String

  func run() throws {
    var lines: [(name: String, figures: DocumentObject)] = []
    for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
      let figures = try DocumentObject(json: String(line))
      guard let name = figures["trial"]?.string else { continue }
      lines.removeAll { $0.name == name }
      lines.append((name, figures))
    }
    for line in lines.sorted(by: { $0.name < $1.name }) {
      print("\n### `make \(line.name)`\n\n| figure | value |\n| --- | ---: |")
      for figure in line.figures where figure.name != "trial" {
        print(Self.row(figure.name, figure.value))
      }
    }
    print()
  }

  /// A table row. A unit after the last comma of the name moves to the value.
  private static func row(_ name: String, _ value: DocumentValue) -> String {
    let parts = name.split(separator: ", ")
    if parts.count > 1, let unit = parts.last, ["ms", "MB", "bytes"].contains(unit) {
      return "| \(parts.dropLast().joined(separator: ", ")) | \(text(value)) \(unit) |"
    }
    if name.hasPrefix("errors.") {
      return "| `\(name.dropFirst("errors.".count))` errors | \(text(value)) |"
    }
    return "| \(name) | \(text(value)) |"
  }

  /// The value, with commas between groups of three digits.
  private static func text(_ value: DocumentValue) -> String {
    guard let number = value.int else { return value.string ?? value.jsonString() }
    var text = ""
    for (place, digit) in "\(abs(number))".reversed().enumerated() {
      if place > 0, place % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (number < 0 ? "-" : "") + text.reversed()
  }
}
