// SPDX-License-Identifier: MIT

package import NanoDocument

/// A position in the input, for error messages.
package struct Place: Sendable {
  /// The number of the record, starting at one; zero for the header of a table.
  package var record: Int
  /// The line, starting at one; nil for an input without lines.
  package var line: Int?
  /// The byte offset.
  package var byte: Int
}

/// A record that cannot be imported.
package struct RecordFailure: Error {
  package let place: Place
  package let error: StoreError
  /// Whether the rest of the input cannot be parsed, so that the record cannot be skipped.
  package var isFatal = false

  /// Returns the error with the position in the input instead of that in the record.
  func located(in name: String) -> StoreError {
    let located = error.removing(.byteOffset).removing(.line)
      .adding(.record, "\(place.record)").adding(.path, name)
    guard let line = place.line else { return located }
    return located.adding(.line, "\(line)").adding(.byteOffset, "\(place.byte)")
  }
}

/// Parses records to documents.
package struct RecordReader: Sendable {
  let key: FieldPath?
  let dialect: JSONDialect

  package init(key: FieldPath?, dialect: JSONDialect) {
    self.key = key
    self.dialect = dialect
  }

  /// Appends the fields of a record to a buffer in stored form.
  ///
  /// - Parameter number: The number of records in the input, up to and including this one.
  package func read(
    _ record: Record, number: Int = 1, into writer: inout JSONWriter
  ) -> Result<(Document.Header, Place), RecordFailure> {
    let place = Place(record: number, line: record.line, byte: record.offset)
    if let fault = record.fault {
      return .failure(RecordFailure(place: place, error: fault, isFatal: record.isFatal))
    }
    do throws(StoreError) {
      return .success((try append(record.bytes, to: &writer), place))
    } catch {
      return .failure(RecordFailure(place: Self.place(of: error, in: record, number), error: error))
    }
  }

  private func append(
    _ given: [UInt8], to writer: inout JSONWriter
  ) throws(StoreError) -> Document.Header {
    var bytes = given
    var header = Document.Header()
    if dialect == .extended, let range = ExportMetadata.range(in: bytes) {
      header = try ExportMetadata.parse(bytes, range.value)
      // Later errors must keep their byte offsets.
      for index in range.whole { bytes[index] = 0x20 }
    }
    let object = try DocumentObject(json: bytes, dialect: dialect)
    if let key { header.key = try Self.key(object, at: key) }
    // Not written to the shared buffer directly, which would keep the failure for later records.
    var fields = JSONWriter(capacity: bytes.count + 64)
    fields.object(object)
    if let failure = fields.failure { throw failure }
    writer.raw(fields.bytes)
    return header
  }

  private static func key(
    _ object: DocumentObject, at path: FieldPath
  ) throws(StoreError) -> DocumentKey {
    switch DocumentValue.object(object)[path] {
    case .string(let text): return try DocumentKey(text)
    case .int(let number): return try DocumentKey(String(number))
    case nil:
      throw StoreError(
        .invalidKey, "The key field is missing", [.field: path.description])
    default:
      throw StoreError(
        .invalidKey, "The key field is neither a string nor an integer",
        [.field: path.description])
    }
  }

  /// Returns the position of a record's error in the input.
  private static func place(
    of error: StoreError, in record: Record, _ number: Int
  ) -> Place {
    let offset = error[.byteOffset].flatMap { Int($0) } ?? 0
    let before = record.bytes.prefix(max(0, offset))
    let lines = before.count { $0 == RecordSplitter.newline }
    return Place(
      record: number, line: record.line + lines, byte: record.offset + before.count)
  }
}
