// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// Buffered standard output.
final class Output {
  /// Thrown when the reader has closed the pipe.
  struct Closed: Error {}

  private var buffer: [UInt8] = []
  /// The buffer size in bytes; a larger buffer is not faster.
  private static let capacity = 1 << 16

  /// Runs a closure and flushes the buffer, even if the closure throws.
  static func run(_ work: (Output) throws -> Void) throws {
    let output = Output()
    do {
      try work(output)
    } catch {
      // The first error is the one to report.
      try? output.flush()
      throw error
    }
    try output.flush()
  }

  func write(_ text: String) throws {
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
  }

  func line(_ text: String) throws { try write(text + "\n") }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.capacity { try flush() }
  }

  func flush() throws {
    var start = 0
    defer { buffer.removeAll(keepingCapacity: true) }
    while start < buffer.count {
      let written = buffer.withUnsafeBytes { bytes in
        Foundation.write(STDOUT_FILENO, bytes.baseAddress! + start, bytes.count - start)
      }
      if written > 0 { start += written }
      guard written < 0, errno != EINTR else { continue }
      guard errno != EPIPE else { throw Closed() }
      throw CommandFailure(
        message: "Cannot write to standard output: \(String(cString: strerror(errno)))")
    }
  }
}
