// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A file that is opened read-only and read through a buffer.
///
/// The file is not memory-mapped: if another process truncated it, access to the lost pages would
/// terminate the program.
final class WindowedFile {
  /// The size of the file in bytes when it was opened.
  let count: Int64
  private let descriptor: Int32
  private let path: String

  private var buffer: UnsafeMutableRawBufferPointer
  private var bufferStart: Int64 = 0
  private var bufferedCount = 0

  /// The bytes that are read at once, in sequence and elsewhere. Arbitrary.
  private static let windowSize = 1 << 16
  private static let pageSize = 1 << 12

  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be opened or is not a regular file.
  convenience init(_ path: String) throws(StoreError) {
    // Opening a named pipe would otherwise wait for a writer.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.error(.cannotOpen, "The file cannot be opened", path) }
    try self.init(adopting: descriptor, path: path)
  }

  /// Takes ownership of an open file descriptor and closes it later, also if this call fails.
  init(adopting descriptor: Int32, path: String) throws(StoreError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let error = Self.error(.inputOutput, "The file cannot be read", path)
      close(descriptor)
      throw error
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw StoreError(.cannotOpen, "Not a regular file", [.path: path])
    }
    self.descriptor = descriptor
    self.path = path
    count = Int64(status.st_size)
    buffer = .allocate(byteCount: Self.windowSize, alignment: 16)
  }

  deinit {
    buffer.deallocate()
    close(descriptor)
  }

  /// Returns bytes that are valid until the next call, or `nil` if the range exceeds the file.
  ///
  /// - Throws: ``StoreError/Code/inputOutput``, also if the file has become shorter.
  func bytes(_ offset: Int64, _ length: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
    guard offset >= 0, length >= 0, offset <= count, Int64(length) <= count - offset else {
      return nil
    }
    if offset < bufferStart || offset + Int64(length) > bufferStart + Int64(bufferedCount) {
      try fill(offset, length)
    }
    let start = Int(offset - bufferStart)
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + length])
  }

  /// Returns the byte at an offset, or `nil` after the end of the file.
  func byte(_ offset: Int64) throws(StoreError) -> UInt8? { try bytes(offset, 1)?[0] }

  private func fill(_ offset: Int64, _ length: Int) throws(StoreError) {
    let distance = offset - bufferStart
    let isSequential = distance >= 0 && distance <= Int64(bufferedCount + Self.pageSize)
    let window = isSequential ? Self.windowSize : Self.pageSize
    let wanted = max(length, Int(min(Int64(window), count - offset)))
    // A large value does not leave a large buffer behind.
    if wanted > buffer.count || (buffer.count > Self.windowSize && wanted <= Self.windowSize) {
      buffer.deallocate()
      buffer = .allocate(byteCount: max(wanted, Self.windowSize), alignment: 16)
    }
    bufferedCount = 0
    bufferStart = offset
    while bufferedCount < wanted {
      let read = pread(
        descriptor, buffer.baseAddress! + bufferedCount, wanted - bufferedCount,
        off_t(offset) + off_t(bufferedCount))
      if read < 0, errno == EINTR { continue }
      guard read > 0 else {
        let error = Self.error(.inputOutput, "The file cannot be read", path)
        throw read < 0
          ? error
          : StoreError(.inputOutput, "The file became shorter while it was read", [.path: path])
      }
      bufferedCount += read
    }
  }

  private static func error(
    _ code: StoreError.Code, _ message: String, _ path: String
  ) -> StoreError {
    StoreError(code, message, [.path: path, .engineMessage: String(cString: strerror(errno))])
  }
}
