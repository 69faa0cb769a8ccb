// SPDX-License-Identifier: MIT

import NanoStore

/// Writes comma-separated values (RFC 4180, with line feeds as line endings).
final class CSVLines {
  private let columns: FieldNames
  private let output: Output
  /// Whether to escape control characters: on a terminal only, so that other programs receive exact values.
  private let escapesControls = Terminal.isOutput
  private var line: [UInt8] = []
  private var cells: [(column: Int, value: DocumentValue)] = []

  init(_ columns: FieldNames, to output: Output) {
    self.columns = columns
    self.output = output
  }

  func header() throws { try add(columns.names.map { .string($0) }) }

  /// Writes a line; nil is an empty cell.
  func add(_ values: [DocumentValue?]) throws {
    for (column, value) in values.enumerated() {
      if column > 0 { line.append(UInt8(ascii: ",")) }
      if let value { append(value) }
    }
    try end()
  }

  /// Writes the fields of an object in their columns.
  ///
  /// The time is linear in the number of fields, plus one comma per column.
  func add(_ object: DocumentObject) throws {
    cells.removeAll(keepingCapacity: true)
    var isOrdered = true
    var next = 0
    for (name, value) in object {
      guard let column = columns.position(of: name, expected: next) else { continue }
      if column < next { isOrdered = false }
      next = column + 1
      cells.append((column, value))
    }
    if !isOrdered { cells.sort { $0.column < $1.column } }
    var written = 0
    for (column, value) in cells where column >= written {
      appendCommas(column - max(written - 1, 0))
      append(value)
      written = column + 1
    }
    appendCommas(columns.names.count - max(written, 1))
    try end()
  }

  private func appendCommas(_ count: Int) {
    if count > 0 { line.append(contentsOf: repeatElement(UInt8(ascii: ","), count: count)) }
  }

  private func append(_ value: DocumentValue) {
    var text = CellText.csv(value)
    if escapesControls { text = TerminalText.text(text) }
    text.withUTF8 { bytes in
      let isPlain =
        bytes.first != UInt8(ascii: " ") && bytes.last != UInt8(ascii: " ")
        && bytes.allSatisfy { !Self.isSpecial($0) }
      if isPlain { return line.append(contentsOf: bytes) }
      line.append(UInt8(ascii: "\""))
      for byte in bytes {
        if byte == UInt8(ascii: "\"") { line.append(byte) }
        line.append(byte)
      }
      line.append(UInt8(ascii: "\""))
    }
  }

  /// Returns whether a cell that contains the byte must be quoted.
  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"): true
    default: false
    }
  }

  private func end() throws {
    line.append(UInt8(ascii: "\n"))
    try line.withUnsafeBytes { try output.write($0) }
    line.removeAll(keepingCapacity: true)
  }
}
