// SPDX-License-Identifier: MIT

import NanoDocument

/// Parsed documents that are written together, and the failures among them.
struct Batch: Sendable {
  /// The fields of all documents in stored form, one after another.
  var bodies: [UInt8] = []
  var documents: [IncomingDocument] = []
  var failures: [RecordFailure] = []
  /// The number of input bytes read up to here.
  var bytesRead = 0
  var isLast = false

  /// The number of documents in a batch: large enough that its savepoint costs nothing per
  /// document.
  static let maximumDocuments = 1_000
  /// The number of bytes in a batch, whatever the number of records, so that large records do not
  /// fill the memory.
  static let maximumBytes = 8 << 20
}

/// A record that was parsed successfully.
struct IncomingDocument: Sendable {
  var header: Document.Header
  /// The position of the fields in ``Batch/bodies``.
  var body: Range<Int>
  var place: Place
}

/// Prepares the documents of an input, one batch at a time.
protocol BatchSource: AnyObject {
  /// Returns the next batch. Must not be called again after the last batch or an error.
  func next() throws -> Batch
}

/// Reads and parses a stream of bytes.
final class ParsedBatches: BatchSource {
  private let source: ByteSource
  private var parser: any RecordParser
  private var bytesRead = 0
  private var writer = JSONWriter(capacity: 1 << 20)

  init(_ source: ByteSource, _ parser: any RecordParser) {
    self.source = source
    self.parser = parser
  }

  func next() throws -> Batch {
    var batch = Batch()
    try fill(&batch)
    batch.bytesRead = bytesRead
    batch.bodies = writer.withBytes { Array($0) }
    writer.removeAll()
    return batch
  }

  private func fill(_ batch: inout Batch) throws {
    batch.documents.reserveCapacity(Batch.maximumDocuments)
    while batch.documents.count < Batch.maximumDocuments, writer.count < Batch.maximumBytes {
      let start = writer.count
      switch parser.next(into: &writer) {
      case .document(let header, let place):
        batch.documents.append(
          IncomingDocument(header: header, body: start..<writer.count, place: place))
      case .failure(let failure):
        writer.truncate(to: start)
        batch.failures.append(failure)
        // Nothing after the first invalid record matters, unless invalid records are skipped.
        if failure.isFatal { batch.isLast = true }
        if failure.isFatal || batch.failures.count >= Batch.maximumDocuments { return }
      case nil:
        guard !parser.isFinished else {
          batch.isLast = true
          return
        }
        try readMore()
      }
    }
  }

  private func readMore() throws {
    guard let piece = try source.read() else { return parser.finish() }
    bytesRead += piece.count
    parser.append(piece)
  }
}
