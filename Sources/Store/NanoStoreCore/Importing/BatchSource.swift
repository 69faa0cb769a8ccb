// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// Parsed documents that are written together, and the failures among them.
struct Batch: Sendable {
  var documents: [IncomingDocument] = []
  var failures: [RecordFailure] = []
  /// The number of input bytes read up to here.
  var bytesRead = 0
  var isLast = false
}

/// Reads and parses the input, one batch at a time.
final class BatchSource {
  private let source: ByteSource
  private let reader: RecordReader
  private var splitter: RecordSplitter
  private var bytesRead = 0
  private var records = 0

  /// The number of documents in a batch: large enough that its savepoint costs nothing per
  /// document.
  private static let documents = 1_000
  /// The number of bytes in a batch, whatever the number of records, so that large records do not
  /// fill the memory.
  private static let bytes = 8 << 20

  init(_ source: ByteSource, _ reader: RecordReader, maximumLength: Int) {
    self.source = source
    self.reader = reader
    splitter = RecordSplitter(maximumLength: maximumLength)
  }

  func next() throws -> Batch {
    var batch = Batch()
    var size = 0
    while batch.documents.count < Self.documents, size < Self.bytes {
      guard let record = splitter.next() else {
        guard !splitter.isFinished else {
          batch.isLast = true
          break
        }
        if let piece = try source.read() {
          bytesRead += piece.count
          splitter.append(piece)
        } else {
          splitter.finish()
        }
        continue
      }
      size += record.bytes.count
      records += 1
      switch reader.read(record, number: records) {
      case .success(let document): batch.documents.append(document)
      case .failure(let failure):
        batch.failures.append(failure)
        // Nothing after the first invalid record matters, unless invalid records are skipped.
        if failure.isFatal { batch.isLast = true }
        if failure.isFatal || batch.failures.count >= Self.documents {
          batch.bytesRead = bytesRead
          return batch
        }
      }
    }
    batch.bytesRead = bytesRead
    return batch
  }
}

// @unchecked: `source` is accessed only by blocks run on `queue`, one at a time.
/// Prepares the next batches on its own thread while one is being written.
final class BatchPipeline: @unchecked Sendable {
  private let source: BatchSource
  private let queue = DispatchQueue(label: "nanostore.import")
  private let ready = Mutex<[Result<Batch, any Error>]>([])
  private let available = DispatchSemaphore(value: 0)
  private let room = DispatchSemaphore(value: 0)
  private let isStopped = Atomic(false)

  /// The maximum number of waiting batches: one is enough if reading and writing alternate, a
  /// second one evens out records of unequal size.
  private static let waiting = 2

  init(_ source: BatchSource) {
    self.source = source
    // Not created with this value: a semaphore must not be deallocated with a lower value than its
    // initial one.
    for _ in 0..<Self.waiting { room.signal() }
    queue.async { [self] in prepare() }
  }

  private func prepare() {
    while true {
      room.wait()
      if isStopped.load(ordering: .acquiring) { return }
      let batch = Result { try source.next() }
      ready.withLock { $0.append(batch) }
      available.signal()
      guard case .success(let batch) = batch, !batch.isLast else { return }
    }
  }

  /// Returns the next batch. Must not be called again after the last batch or an error.
  func next() throws -> Batch {
    available.wait()
    let batch = ready.withLock { $0.removeFirst() }
    room.signal()
    return try batch.get()
  }

  /// Ends the thread early.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    room.signal()
  }
}
