// SPDX-License-Identifier: MIT

/// A table, rendered as aligned text or as Markdown. The first column is left-aligned text, the others are
/// right-aligned numbers.
package struct Table {
  package let header: [String]
  package var rows: [[String]] = []

  package init(header: [String], rows: [[String]] = []) {
    self.header = header
    self.rows = rows
  }

  package var text: String {
    lines { cell, column in pad(cell, column) }.map { $0.joined(separator: "  ") }
      .joined(separator: "\n")
  }

  package var markdown: String {
    let rule = header.indices.map { $0 == 0 ? "---" : "---:" }
    return ([header, rule] + rows)
      .map { "| " + $0.joined(separator: " | ") + " |" }
      .joined(separator: "\n")
  }

  private func lines(_ format: (String, Int) -> String) -> [[String]] {
    ([header] + rows).map { row in zip(row, header.indices).map(format) }
  }

  private func pad(_ cell: String, _ column: Int) -> String {
    let space = String(repeating: " ", count: width(column) - cell.count)
    return column == 0 ? cell + space : space + cell
  }

  private func width(_ column: Int) -> Int {
    ([header] + rows).map { $0[column].count }.max() ?? 0
  }
}
