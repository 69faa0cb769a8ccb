// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// Writes documents as rows of comma-separated values (RFC 4180, with line feeds as line ends).
struct CSVExport {
  /// A column: a field, or the key.
  struct Column {
    /// The header, which an import reads as the same column.
    let name: String
    /// Nil for the key.
    let path: FieldPath?
    /// Whether the column is an element of an array, or within one.
    let hasPosition: Bool

    static let key = Column(name: TableColumns.keyName, path: nil)

    private init(name: String, path: FieldPath?) {
      self.name = name
      self.path = path
      hasPosition = path?.addressesElement == true
    }

    init(_ path: FieldPath) {
      let name = path.description
      let isReserved = ([TableColumns.keyName] + TableColumns.reservedNames).containsExactly(name)
      self.init(name: isReserved ? "\"\(name)\"" : name, path: path)
    }

    /// - Parameter text: A path, or `__key__`.
    /// - Throws: ``StoreError/Code/invalidPath``, ``StoreError/Code/invalidArgument`` for the name of
    ///   other metadata, which an import refuses.
    init(_ text: String) throws(StoreError) {
      guard !TableColumns.reservedNames.containsExactly(text) else {
        throw StoreError(
          .invalidArgument, "A column has the name of metadata that an import does not restore",
          [.field: text, .hint: "remove it, or write the name in quotes for a field of this name"])
      }
      let path = FieldPath(text)
      try path.validate()
      self = text.hasSameBytes(as: TableColumns.keyName) ? .key : Column(path)
    }
  }

  private let columns: [Column]
  private let separator: UInt8

  init(_ columns: [Column], _ separator: UInt8) {
    self.columns = columns
    self.separator = separator
  }

  func writeHeader(to writer: inout JSONWriter) {
    for (index, column) in columns.enumerated() {
      if index > 0 { writer.byte(separator) }
      CSVCell.write(column.name, separator, &writer)
    }
    writer.byte(UInt8(ascii: "\n"))
  }

  var hasPositions: Bool { columns.contains(where: \.hasPosition) }

  /// - Parameter selection: The whole document and its selected fields, if elements may have other positions in
  ///   `document`.
  func write(
    _ document: Document, selection: (whole: DocumentObject, fields: [FieldPath])? = nil,
    to writer: inout JSONWriter
  ) throws(StoreError) {
    // Refuses documents that have no exact form.
    _ = try ExportMetadata.fields(of: document)
    let object = DocumentValue.object(try document.object())
    for (index, column) in columns.enumerated() {
      if index > 0 { writer.byte(separator) }
      guard let path = column.path else {
        if let key = document.key { CSVCell.write(key, separator, &writer) }
        continue
      }
      let value: DocumentValue?
      if column.hasPosition, let selection {
        value = selection.whole.value(at: path, selecting: selection.fields)
      } else {
        value = object[path]
      }
      if let value { CSVCell.write(value, separator, &writer) }
    }
    writer.byte(UInt8(ascii: "\n"))
  }
}

/// The text of values in CSV.
package enum CSVCell {
  /// Returns the text of a value: arrays and objects as JSON.
  package static func text(_ value: DocumentValue) -> String {
    switch value {
    case .string(let text): return text
    case .url(let url): return url.absoluteString
    // JSON cannot represent infinity and NaN, but a cell can.
    case .double(let number) where !number.isFinite: return "\(number)"
    // Computed dates, and those of other programs' rows, can have no text.
    case .date(let date): return DateText.text(date) ?? "\(date.timeIntervalSinceReferenceDate)"
    case .data: return String(value.jsonString(dialect: .plain).dropFirst().dropLast())
    case .null, .bool, .int, .double, .decimal, .array, .object:
      return value.jsonString(dialect: .plain)
    }
  }

  /// Writes a value so that an import reads it as the same value if it is a null, Boolean, integer,
  /// double, date or string.
  static func write(_ value: DocumentValue, _ separator: UInt8, _ writer: inout JSONWriter) {
    switch value {
    // An empty cell would be a missing field, and the text of a value would become that value.
    case .string, .data, .url, .array, .object:
      let text = text(value)
      write(text, separator, isQuoted: text.isEmpty || PlainText.isValue(text), &writer)
    case .null, .bool, .int, .double, .decimal, .date: write(text(value), separator, &writer)
    }
  }

  /// Writes a text, in quotes if it contains special characters.
  package static func write(
    _ text: String, _ separator: UInt8 = UInt8(ascii: ","), isQuoted: Bool = false,
    _ writer: inout JSONWriter
  ) {
    var text = text
    text.withUTF8 { bytes in
      guard isQuoted || needsQuotes(bytes, separator) else {
        return writer.raw(UnsafeRawBufferPointer(bytes))
      }
      writer.byte(UInt8(ascii: "\""))
      for byte in bytes {
        if byte == UInt8(ascii: "\"") { writer.byte(byte) }
        writer.byte(byte)
      }
      writer.byte(UInt8(ascii: "\""))
    }
  }

  private static func needsQuotes(
    _ bytes: UnsafeBufferPointer<UInt8>, _ separator: UInt8
  ) -> Bool {
    // A byte order mark at the start of the file would be skipped.
    bytes.first == UInt8(ascii: " ") || bytes.last == UInt8(ascii: " ")
      || bytes.starts(with: [0xEF, 0xBB, 0xBF])
      || bytes.contains { byte in
        switch byte {
        case UInt8(ascii: "\""), separator, UInt8(ascii: "\n"), UInt8(ascii: "\r"): true
        default: false
        }
      }
  }
}
