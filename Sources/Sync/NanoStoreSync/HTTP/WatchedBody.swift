// SPDX-License-Identifier: MIT

import NIOCore

/// A body that tells the watch about its progress: sending a large one takes longer than any answer may.
struct WatchedBody<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element == ByteBuffer {
  typealias Element = ByteBuffer
  let base: Base
  let watch: ProgressWatch
  let patience: Duration

  func makeAsyncIterator() -> Iterator {
    Iterator(base: base.makeAsyncIterator(), watch: watch, patience: patience)
  }

  struct Iterator: AsyncIteratorProtocol {
    var base: Base.AsyncIterator
    let watch: ProgressWatch
    let patience: Duration

    mutating func next() async throws -> ByteBuffer? {
      watch.stop()
      defer { watch.wait(atMost: patience) }
      return try await base.next()
    }
  }
}

/// Bytes in pieces, so that the progress of sending them is noticed.
struct PiecewiseBytes: AsyncSequence, Sendable {
  typealias Element = ByteBuffer
  let bytes: [UInt8]

  /// Arbitrary: a second on a connection of half a megabit.
  static let length = 64 << 10

  func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

  struct Iterator: AsyncIteratorProtocol {
    var rest: ArraySlice<UInt8>

    mutating func next() async throws -> ByteBuffer? {
      guard !rest.isEmpty else { return nil }
      defer { rest = rest.dropFirst(length) }
      return ByteBuffer(bytes: rest.prefix(length))
    }
  }
}
