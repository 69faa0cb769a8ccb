// SPDX-License-Identifier: MIT

package import NanoDocument

/// A position in the input, for error messages.
package struct Place: Sendable {
  /// The number of the record, starting at one.
  package var record: Int
  /// The line, starting at one.
  package var line: Int
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
  func located(in source: ByteSource) -> StoreError {
    error.removing(.byteOffset).removing(.line)
      .adding(.record, "\(place.record)").adding(.line, "\(place.line)")
      .adding(.byteOffset, "\(place.byte)").adding(.path, source.name)
  }
}

/// A record that was parsed successfully.
package struct IncomingDocument: Sendable {
  package let document: Document
  package let place: Place
}

/// Parses records to documents.
package struct RecordReader: Sendable {
  let key: FieldPath?
  let dialect: JSONDialect

  package init(key: FieldPath?, dialect: JSONDialect) {
    self.key = key
    self.dialect = dialect
  }

  /// - Parameter number: The number of records in the input, up to and including this one.
  package func read(
    _ record: Record, number: Int = 1
  ) -> Result<IncomingDocument, RecordFailure> {
    let place = Place(record: number, line: record.line, byte: record.offset)
    if let fault = record.fault {
      return .failure(RecordFailure(place: place, error: fault, isFatal: record.isFatal))
    }
    do throws(StoreError) {
      return .success(IncomingDocument(document: try document(record.bytes), place: place))
    } catch {
      return .failure(RecordFailure(place: Self.place(of: error, in: record, number), error: error))
    }
  }

  private func document(_ given: [UInt8]) throws(StoreError) -> Document {
    var bytes = given
    var header = Document.Header()
    if dialect == .extended, let range = ExportMetadata.range(in: bytes) {
      header = try ExportMetadata.parse(bytes, range.value)
      // Later errors must keep their byte offsets.
      for index in range.whole { bytes[index] = 0x20 }
    }
    let object = try DocumentObject(json: bytes, dialect: dialect)
    if let key { header.key = try Self.key(object, at: key) }
    var writer = JSONWriter(capacity: bytes.count + 64)
    writer.object(object)
    if let failure = writer.failure { throw failure }
    return Document(header, copying: writer.bytes)
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
