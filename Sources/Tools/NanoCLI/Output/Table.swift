// SPDX-License-Identifier: MIT

import NanoStore

/// Writes rows as a table that fits into a width.
///
/// The first rows are kept to find the widths of the columns, the others are written as they come,
/// so that a table may be of any length.
final class Table {
  private let columns: [String]
  /// The first columns: no more can find room, whatever is in them.
  let candidates: ArraySlice<String>
  private let width: Int
  private let output: Output
  private var kept: [[Cell]] = []
  private var layout: TableLayout?

  private struct Cell {
    let text: String
    let isNumber: Bool
  }

  /// Rows that decide on the widths; arbitrary, more than people look at.
  private static let sampleSize = 500

  init(_ columns: [String], width: Int, to output: Output) {
    self.columns = columns
    candidates = columns.prefix(TableLayout.mostColumns(width))
    self.width = width
    self.output = output
  }

  func add(_ values: [DocumentValue?]) throws {
    let row = values.prefix(candidates.count).map {
      Cell(text: CellText.table($0), isNumber: CellText.isNumber($0))
    }
    if let layout { return try write(row, layout) }
    kept.append(row)
    if kept.count >= Self.sampleSize { try begin() }
  }

  /// Names of columns that found no room.
  func finish() throws -> ArraySlice<String> {
    if layout == nil { try begin() }
    return columns[(layout?.widths.count ?? 0)...]
  }

  private func begin() throws {
    let names = candidates.map(TerminalText.text)
    let natural = names.indices.map { column in
      kept.reduce(DisplayWidth.of(names[column])) { max($0, DisplayWidth.of($1[column].text)) }
    }
    let isNumeric = names.indices.map { column in
      let filled = kept.filter { !$0[column].text.isEmpty }
      return !filled.isEmpty && filled.allSatisfy { $0[column].isNumber }
    }
    let layout = TableLayout(natural: natural, isNumeric: isNumeric, width: width)
    self.layout = layout
    guard !names.isEmpty else { return }
    try output.line(layout.line(names))
    try output.line(layout.widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "))
    for row in kept { try write(row, layout) }
    kept = []
  }

  private func write(_ row: [Cell], _ layout: TableLayout) throws {
    try output.line(layout.line(row.map(\.text)))
  }
}

/// How wide each column is; columns that find no room are not in it.
struct TableLayout {
  let widths: [Int]
  private let isNumeric: [Bool]

  /// A column narrower than this tells little; if there is no room even for that, the last ones go.
  private static let least = 12
  private static let gap = 2

  /// How many columns find room at most, were they all empty.
  static func mostColumns(_ width: Int) -> Int { max(1, width) / gap + 1 }

  init(natural: [Int], isNumeric: [Bool], width: Int) {
    var count = natural.count
    func room(_ count: Int) -> Int { max(1, width - Self.gap * (count - 1)) }
    var needed = natural.reduce(0) { $0 + min($1, Self.least) }
    while count > 1, needed > room(count) {
      count -= 1
      needed -= min(natural[count], Self.least)
    }
    let shown = Array(natural[..<count])
    let available = room(count)
    self.isNumeric = isNumeric
    guard shown.reduce(0, +) > available else {
      widths = shown
      return
    }
    // The widest columns give first: the largest cap under which all fit.
    var cap = 1
    while shown.reduce(0, { $0 + min($1, cap + 1) }) <= available { cap += 1 }
    var spare = available - shown.reduce(0) { $0 + min($1, cap) }
    widths = shown.map { natural in
      guard natural > cap, spare > 0 else { return min(natural, cap) }
      spare -= 1
      return cap + 1
    }
  }

  /// Cells side by side, numbers to the right, no blanks at the end.
  func line(_ cells: [String]) -> String {
    var line = ""
    for (index, width) in widths.enumerated() {
      if index > 0 { line += String(repeating: " ", count: Self.gap) }
      let text = DisplayWidth.fitted(cells[index], width)
      let blanks = String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
      line += isNumeric[index] ? blanks + text : text + blanks
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
