// SPDX-License-Identifier: MIT

package import NanoDocument

/// A record of the input that was parsed to a document, or not.
package enum ParsedRecord {
  /// The fields were appended to the writer in stored form.
  case document(Document.Header, Place)
  case failure(RecordFailure)
}

/// Parses documents from a stream of bytes, keeping no more than one record in memory.
///
/// The records do not depend on how the bytes are divided into chunks.
package protocol RecordParser {
  /// Whether there are no more records, whatever follows.
  var isFinished: Bool { get }
  mutating func append(_ bytes: UnsafeRawBufferPointer)
  /// Marks the end of the input.
  mutating func finish()
  /// Returns the next record; nil if more bytes are needed, and at the end.
  mutating func next(into writer: inout JSONWriter) -> ParsedRecord?
}

/// Parses JSON records.
struct JSONRecordParser: RecordParser {
  private let reader: RecordReader
  private var splitter: RecordSplitter
  private var records = 0

  init(_ reader: RecordReader, maximumLength: Int) {
    self.reader = reader
    splitter = RecordSplitter(maximumLength: maximumLength)
  }

  var isFinished: Bool { splitter.isFinished }
  mutating func append(_ bytes: UnsafeRawBufferPointer) { splitter.append(bytes) }
  mutating func finish() { splitter.finish() }

  mutating func next(into writer: inout JSONWriter) -> ParsedRecord? {
    guard let record = splitter.next() else { return nil }
    records += 1
    switch reader.read(record, number: records, into: &writer) {
    case .success(let (header, place)): return .document(header, place)
    case .failure(let failure): return .failure(failure)
    }
  }
}
