// SPDX-License-Identifier: MIT

import NanoStore

/// Writes rows as a table that fits a width.
///
/// The first rows are buffered to compute the column widths and the others are streamed, so that a table may be of
/// any length.
final class Table {
  private let columns: [String]
  /// The leading columns that could fit; the rest cannot, even if all cells are empty.
  let candidates: ArraySlice<String>
  private let width: Int
  private let output: Output
  private var sample: [[Cell]] = []
  private var layout: TableLayout?

  private struct Cell {
    let text: String
    let isNumber: Bool
  }

  /// The number of rows that determine the widths; arbitrary, more than people read.
  private static let sampleSize = 500

  init(_ columns: [String], width: Int, to output: Output) {
    self.columns = columns
    candidates = columns.prefix(TableLayout.maximumColumns(width))
    self.width = width
    self.output = output
  }

  func add(_ values: [DocumentValue?]) throws {
    let row = values.prefix(candidates.count).map {
      Cell(text: CellText.table($0), isNumber: CellText.isNumber($0))
    }
    if let layout { return try write(row, layout) }
    sample.append(row)
    if sample.count >= Self.sampleSize { try begin() }
  }

  /// Writes the remaining rows and returns the names of the columns that did not fit.
  func finish() throws -> ArraySlice<String> {
    if layout == nil { try begin() }
    return columns[(layout?.widths.count ?? 0)...]
  }

  private func begin() throws {
    let names = candidates.map(TerminalText.text)
    let natural = names.indices.map { column in
      sample.reduce(DisplayWidth.of(names[column])) { max($0, DisplayWidth.of($1[column].text)) }
    }
    let isNumeric = names.indices.map { column in
      let filled = sample.filter { !$0[column].text.isEmpty }
      return !filled.isEmpty && filled.allSatisfy { $0[column].isNumber }
    }
    let layout = TableLayout(natural: natural, isNumeric: isNumeric, width: width)
    self.layout = layout
    guard !names.isEmpty else { return }
    try output.line(layout.line(names))
    try output.line(layout.widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "))
    for row in sample { try write(row, layout) }
    sample = []
  }

  private func write(_ row: [Cell], _ layout: TableLayout) throws {
    try output.line(layout.line(row.map(\.text)))
  }
}

/// The widths of the columns that fit.
struct TableLayout {
  let widths: [Int]
  private let isNumeric: [Bool]

  /// The minimum useful width of a column; trailing columns are dropped if this width is not available.
  private static let minimumWidth = 12
  private static let gap = 2

  /// Returns the number of columns that fit if all are empty.
  static func maximumColumns(_ width: Int) -> Int { max(1, width) / gap + 1 }

  init(natural: [Int], isNumeric: [Bool], width: Int) {
    var count = natural.count
    func available(_ count: Int) -> Int { max(1, width - Self.gap * (count - 1)) }
    var needed = natural.reduce(0) { $0 + min($1, Self.minimumWidth) }
    while count > 1, needed > available(count) {
      count -= 1
      needed -= min(natural[count], Self.minimumWidth)
    }
    let shown = Array(natural[..<count])
    let total = available(count)
    self.isNumeric = isNumeric
    guard shown.reduce(0, +) > total else {
      widths = shown
      return
    }
    // Shrink the widest columns first: find the largest cap with which all columns fit.
    var cap = 1
    while shown.reduce(0, { $0 + min($1, cap + 1) }) <= total { cap += 1 }
    var spare = total - shown.reduce(0) { $0 + min($1, cap) }
    widths = shown.map { natural in
      guard natural > cap, spare > 0 else { return min(natural, cap) }
      spare -= 1
      return cap + 1
    }
  }

  /// Returns a line of cells, with numbers right-aligned and trailing spaces removed.
  func line(_ cells: [String]) -> String {
    var line = ""
    for (index, width) in widths.enumerated() {
      if index > 0 { line += String(repeating: " ", count: Self.gap) }
      let text = DisplayWidth.fitted(cells[index], width)
      let padding = String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
      line += isNumeric[index] ? padding + text : text + padding
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
