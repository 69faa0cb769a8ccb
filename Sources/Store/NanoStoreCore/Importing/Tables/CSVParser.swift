// SPDX-License-Identifier: MIT

package import NanoDocument

/// Parses the rows of a CSV file to documents.
package struct CSVParser: RecordParser {
  private let options: CSVOptions
  private let keyField: FieldPath?
  private var splitter: CSVSplitter
  private var header: Header?
  private var rows = 0
  private var isOver = false

  private struct Header {
    var columns: TableColumns
    /// Whether each column contains only strings.
    var isText: [Bool]
  }

  package init(
    _ options: CSVOptions, keyField: FieldPath?, maximumLength: Int
  ) throws(StoreError) {
    self.options = options
    self.keyField = keyField
    splitter = CSVSplitter(
      separator: try options.separator.separatorByte(), maximumLength: maximumLength)
  }

  package var isFinished: Bool { splitter.isFinished || isOver }
  package mutating func append(_ bytes: UnsafeRawBufferPointer) { splitter.append(bytes) }
  package mutating func finish() { splitter.finish() }

  package mutating func next(into writer: inout JSONWriter) -> ParsedRecord? {
    while !isOver, let row = splitter.next() {
      let isBlank = splitter.fields.count == 1 && row.range.isEmpty && row.fault == nil
      guard let header else {
        if isBlank { continue }
        do throws(StoreError) {
          header = try readHeader(row)
        } catch {
          return failure(row, error, isFatal: true)
        }
        continue
      }
      // In a table with one column, it is a row whose field is empty.
      if isBlank, header.columns.count > 1 { continue }
      rows += 1
      if let fault = row.fault { return failure(row, fault, isFatal: row.isFatal) }
      do throws(StoreError) {
        try check(row)
        let document = try read(header, into: &writer)
        return .document(document, place(row))
      } catch {
        return failure(row, error)
      }
    }
    return nil
  }

  private func place(_ row: CSVSplitter.Row) -> Place {
    Place(record: rows, line: row.line, byte: row.offset)
  }

  /// - Parameter error: The error, whose byte offset is relative to the row.
  private mutating func failure(
    _ row: CSVSplitter.Row, _ error: StoreError, isFatal: Bool = false
  ) -> ParsedRecord {
    isOver = isFatal
    var place = place(row)
    if let offset = error[.byteOffset].flatMap({ Int($0) }) {
      place.byte += offset
      place.line = row.line + lineEnds(row.range.lowerBound, row.range.lowerBound + offset)
    }
    return .failure(RecordFailure(place: place, error: error, isFatal: isFatal))
  }

  private func lineEnds(_ start: Int, _ end: Int) -> Int {
    let bytes = splitter.bytes
    return (start..<end).count { index in
      bytes[index] == 0x0A
        || bytes[index] == 0x0D && (index + 1 == bytes.count || bytes[index + 1] != 0x0A)
    }
  }

  /// Checks that a row is UTF-8.
  private func check(_ row: CSVSplitter.Row) throws(StoreError) {
    let invalid = splitter.bytes.withUnsafeBytes {
      UTF8Validation.firstInvalidOffset(UnsafeRawBufferPointer(rebasing: $0[row.range]))
    }
    guard let invalid else { return }
    throw StoreError(
      .invalidCSV, "A row is not well-formed UTF-8",
      [.byteOffset: "\(invalid)", .hint: "convert the file to UTF-8"])
  }
}

extension CSVParser {
  private func readHeader(_ row: CSVSplitter.Row) throws(StoreError) -> Header {
    try refuseOtherEncodings(row)
    if let fault = row.fault { throw fault }
    try check(row)
    let columns = try TableColumns(splitter.fields.map(text), keyField: keyField)
    var isText = [Bool](repeating: !options.infersTypes, count: columns.count)
    for path in options.textColumns {
      let position = try TableColumns.position(
        of: path, in: columns.paths, "A column of strings is not in the header")
      isText[position] = true
    }
    return Header(columns: columns, isText: isText)
  }

  private func refuseOtherEncodings(_ row: CSVSplitter.Row) throws(StoreError) {
    let start = splitter.bytes[row.range].prefix(4)
    let isWide = start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF])
    // Every second byte of ASCII characters in UTF-16, which a name with a NUL does not have.
    let isZero = start.map { $0 == 0 } + [true, true, true, true]
    guard isWide || start.contains(0) && (isZero[0] && isZero[2] || isZero[1] && isZero[3]) else {
      return
    }
    throw StoreError(
      .invalidCSV, "The file is in UTF-16 or UTF-32, not UTF-8",
      [.hint: "convert the file to UTF-8"])
  }

  private func text(_ field: CSVSplitter.Field) -> String {
    let bytes = splitter.bytes[field.range]
    guard field.form == .quotedWithEscapes else { return String(decoding: bytes, as: UTF8.self) }
    return bytes.withUnsafeBufferPointer { bytes in
      Self.withUnescaped(bytes) { String(decoding: $0, as: UTF8.self) }
    }
  }

  private func read(
    _ header: Header, into writer: inout JSONWriter
  ) throws(StoreError) -> Document.Header {
    let (fields, columns) = (splitter.fields, header.columns)
    let isComplete =
      options.acceptsShortRows ? fields.count <= columns.count : fields.count == columns.count
    guard isComplete else {
      throw StoreError(
        .invalidCSV,
        fields.count < columns.count
          ? "A row has fewer fields than the header" : "A row has more fields than the header",
        [.expected: "\(columns.count) fields", .actual: "\(fields.count)"])
    }
    var document = Document.Header()
    if let key = columns.key {
      guard fields.indices.contains(key), !fields[key].range.isEmpty else {
        throw TableColumns.missingKey
      }
      document.key = try DocumentKey(text(fields[key]))
    }
    splitter.bytes.withUnsafeBufferPointer { bytes in
      columns.tree.write(to: &writer) { column, writer in
        guard column < fields.count else { return false }
        let field = fields[column]
        return write(
          UnsafeBufferPointer(rebasing: bytes[field.range]), field.form, header.isText[column],
          &writer)
      }
    }
    return document
  }

  /// Writes the value of a field; returns false if it is missing.
  @inline(__always)
  private func write(
    _ bytes: UnsafeBufferPointer<UInt8>, _ form: CSVSplitter.Field.Form, _ isText: Bool,
    _ writer: inout JSONWriter
  ) -> Bool {
    if form == .plain, bytes.isEmpty { return writeEmpty(&writer) }
    guard form != .quotedWithEscapes else {
      // No value contains quotes, so this is a string.
      Self.withUnescaped(bytes) { writer.quoted($0) }
      return true
    }
    let isInferred = !isText && (form == .plain || options.infersQuotedFields)
    if !isInferred || !PlainText.write(bytes, to: &writer) { writer.quoted(bytes) }
    return true
  }

  private func writeEmpty(_ writer: inout JSONWriter) -> Bool {
    switch options.emptyFields {
    case .missing: return false
    case .null: writer.null()
    case .text: writer.literal("\"\"")
    }
    return true
  }

  /// Passes the content of a field to a closure, with single quotes for doubled ones.
  private static func withUnescaped<Result>(
    _ bytes: UnsafeBufferPointer<UInt8>, _ use: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { text in
      var (from, to) = (0, 0)
      while from < bytes.count {
        text[to] = bytes[from]
        from += bytes[from] == UInt8(ascii: "\"") ? 2 : 1
        to += 1
      }
      return use(UnsafeBufferPointer(rebasing: text[..<to]))
    }
  }
}
