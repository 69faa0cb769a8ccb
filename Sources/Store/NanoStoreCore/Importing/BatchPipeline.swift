// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

// @unchecked: `source` is accessed only by blocks run on `queue`, one at a time.
/// Prepares the next batches on its own thread while one is being written.
final class BatchPipeline: @unchecked Sendable {
  private let source: any BatchSource
  private let queue = DispatchQueue(label: "nanostore.import")
  private let ready = Mutex<[Result<Batch, any Error>]>([])
  private let available = DispatchSemaphore(value: 0)
  private let room = DispatchSemaphore(value: 0)
  private let isStopped = Atomic(false)

  /// The maximum number of waiting batches: one is enough if reading and writing alternate, a
  /// second one evens out records of unequal size.
  private static let waiting = 2

  init(_ source: any BatchSource) {
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
