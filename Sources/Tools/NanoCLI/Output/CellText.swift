// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// Formats values for cells of tables and CSV.
enum CellText {
  /// Returns text for a table: arrays without brackets, control characters escaped.
  static func table(_ value: DocumentValue?) -> String {
    if case .double(let number) = value, number.isFinite { return rounded(number) }
    return TerminalText.text(
      plain(value) { elements in
        elements.contains { $0.array != nil || $0.object != nil }
          ? nil : elements.map { table($0) }.joined(separator: ", ")
      })
  }

  /// Formats a number with ten digits, so that the average 8.110000000000001 appears as 8.11.
  private static func rounded(_ number: Double) -> String {
    let text = String(format: "%.10g", number)
    // A double must not look like an integer.
    return text.contains { ".e".contains($0) } ? text : text + ".0"
  }

  /// Returns text for CSV: arrays and objects as JSON.
  static func csv(_ value: DocumentValue?) -> String { plain(value) { _ in nil } }

  static func isNumber(_ value: DocumentValue?) -> Bool {
    switch value {
    case .int, .double, .decimal: true
    default: false
    }
  }

  private static func plain(
    _ value: DocumentValue?, list: ([DocumentValue]) -> String?
  ) -> String {
    guard let value else { return "" }
    if case .array(let elements) = value, let text = list(elements) { return text }
    return CSVCell.text(value)
  }
}
