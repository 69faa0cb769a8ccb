// SPDX-License-Identifier: MIT

package import NanoDocument
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Generates UUIDv7 keys (RFC 9562).
///
/// They begin with a timestamp, so new keys are adjacent at the end of the key index. Random keys
/// make an insert up to five times as expensive. Keys of one generator are monotonic, even within a
/// millisecond: a counter follows the timestamp.
package final class KeyGenerator: Sendable {
  private struct State {
    var milliseconds: UInt64 = 0
    var counter: UInt64 = 0
    var random = RandomWords()
  }
  private let state = Mutex(State())

  package init() {}

  package func next() -> DocumentKey { next(at: UInt64(Clock.microseconds()) / 1_000) }

  /// - Parameter now: Milliseconds since 1970. Documents that are stored together may share it.
  func next(at now: UInt64) -> DocumentKey {
    state.withLock { state in
      let random = state.random.next()
      if now > state.milliseconds {
        state.milliseconds = now
        // The top bit of the 12 starts clear, so that at least 2,048 keys follow in order.
        state.counter = random.counter & 0x7FF
      } else {
        state.counter += 1
        if state.counter > 0xFFF {
          state.milliseconds += 1
          state.counter = 0
        }
      }
      let high = state.milliseconds << 16 | 0x7000 | state.counter
      return .uuid(high, random.word & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
  }
}

/// Random words from the system, fetched in batches: one system call per key would cost as much as
/// writing a small document.
private struct RandomWords {
  private var words: [UInt64] = []

  mutating func next() -> (word: UInt64, counter: UInt64) {
    if words.isEmpty { refill() }
    let word = words.removeLast()
    return (word, word >> 52)
  }

  private mutating func refill() {
    words = Array(repeating: 0, count: 128)
    words.withUnsafeMutableBytes { bytes in
      #if canImport(Darwin)
        arc4random_buf(bytes.baseAddress, bytes.count)
      #else
        // Requests of up to 256 bytes are never partial (getentropy(3)).
        for start in stride(from: 0, to: bytes.count, by: 256) {
          let chunk = bytes[start..<min(start + 256, bytes.count)]
          if getentropy(UnsafeMutableRawBufferPointer(rebasing: chunk).baseAddress!, chunk.count)
            != 0
          {
            var generator = SystemRandomNumberGenerator()
            for index in chunk.indices { bytes[index] = .random(in: 0...255, using: &generator) }
          }
        }
      #endif
    }
  }
}

/// The current time as documents store it: microseconds since 1970.
package enum Clock {
  package static func microseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
