// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// Generates the table in docs/RELIABILITY.md from the figures that the stress tests print.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Makes a table of lines of figures, the last of each trial.")

  @Argument(help: "A file with a line of JSON for each trial.")
  var file: String

  func run() throws {
    var lines: [(name: String, figures: DocumentObject)] = []
    for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
      let figures = try DocumentObject(json: String(line))
      guard let name = figures["trial"]?.string else { continue }
      lines.removeAll { $0.name == name }
      lines.append((name, figures))
    }
    print("| trial | figures |\n| --- | --- |")
    for line in lines.sorted(by: { $0.name < $1.name }) {
      let figures = line.figures.filter { $0.name != "trial" }
        .map { "\($0.name) \(Self.text($0.value))" }
      print("| `\(line.name)` | \(figures.joined(separator: "; ")) |")
    }
  }

  /// Formats a number with thousands separators.
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
