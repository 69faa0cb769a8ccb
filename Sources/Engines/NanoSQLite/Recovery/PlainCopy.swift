// SPDX-License-Identifier: MIT

import Foundation

/// Copies the content of a file to a new one that only its owner can access. A link is followed, and what it leads to stays as
/// it is.
enum PlainCopy {
  /// Why a file was not copied.
  struct Failure: Error {
    /// Whether the source cannot be read; otherwise, the target cannot be written.
    let isOfSource: Bool
    /// The error number of the system.
    let number: Int32
  }

  /// The number of bytes copied at a time. Arbitrary.
  private static let pieceLength = 1 << 20

  static func make(of source: String, at target: String) throws(Failure) {
    // Opening a pipe would wait for its writer.
    let input = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard input >= 0 else { throw Failure(isOfSource: true, number: errno) }
    defer { close(input) }
    var status = stat()
    guard fstat(input, &status) == 0 else { throw Failure(isOfSource: true, number: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(isOfSource: true, number: EINVAL)
    }
    let output = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw Failure(isOfSource: false, number: errno) }
    defer { close(output) }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceLength, alignment: 1)
    defer { piece.deallocate() }
    while true {
      let count = read(input, piece.baseAddress, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(isOfSource: true, number: errno) }
      if count == 0 { return }
      var start = 0
      while start < count {
        let written = write(output, piece.baseAddress! + start, count - start)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw Failure(isOfSource: false, number: errno) }
        start += written
      }
    }
  }
}
