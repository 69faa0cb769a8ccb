// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// Passes bytes from a thread of the store to the task that sends them. The thread waits while the client is slower.
final class ByteChannel: Sendable {
  /// The bytes, one part after another; each must be followed by ``taken()``.
  let bytes: AsyncThrowingStream<[UInt8], any Error>
  private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
  private let slots = DispatchSemaphore(value: 0)
  private let isClosed = Atomic(false)

  /// The number of parts that are in memory. More are no faster.
  private static let capacity = 4

  init() {
    (bytes, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    for _ in 0..<Self.capacity { slots.signal() }
  }

  /// Sends a part. Waits while the receiver is behind.
  ///
  /// - Throws: `CancellationError` if the channel was closed.
  func send(_ part: [UInt8]) throws {
    slots.wait()
    guard !isClosed.load(ordering: .acquiring) else { throw CancellationError() }
    continuation.yield(part)
  }

  /// Frees the memory of a received part.
  func taken() { slots.signal() }

  func finish(throwing error: (any Error)? = nil) { continuation.finish(throwing: error) }

  /// Ends the sender, of which there is one, at its next or current call.
  func close() {
    isClosed.store(true, ordering: .releasing)
    slots.signal()
  }
}
