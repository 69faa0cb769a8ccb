// SPDX-License-Identifier: MIT

import Foundation

/// A file, or the standard input, read piece by piece.
final class ByteSource {
  let name: String
  /// Bytes in all; nil if nobody knows, as of a pipe.
  let size: Int?
  private let descriptor: Int32
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 1)

  /// Fewer and larger pieces are no faster.
  private static let pieceSize = 1 << 20

  /// - Parameter path: `-` for the standard input.
  init(_ path: String) throws {
    if path == "-" {
      name = "standard input"
      descriptor = STDIN_FILENO
    } else {
      name = path
      descriptor = open(NSString(string: path).expandingTildeInPath, O_RDONLY)
    }
    var about = stat()
    guard descriptor >= 0, fstat(descriptor, &about) == 0 else { throw Self.failure(name) }
    guard about.st_mode & S_IFMT != S_IFDIR else {
      throw CommandFailure(message: Printable.text("\(path) is a folder"))
    }
    size = about.st_mode & S_IFMT == S_IFREG ? Int(about.st_size) : nil
  }

  deinit {
    buffer.deallocate()
    if descriptor > STDIN_FILENO { close(descriptor) }
  }

  /// The next bytes, valid until the next call; nil at the end.
  func read() throws -> UnsafeRawBufferPointer? {
    while true {
      let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
      if count > 0 { return UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
      if count == 0 { return nil }
      guard errno == EINTR else { throw Self.failure(name) }
    }
  }

  private static func failure(_ name: String) -> CommandFailure {
    CommandFailure(
      message: Printable.text("\(name) cannot be read: \(String(cString: strerror(errno)))"))
  }

  /// Everything; for single documents.
  func text() throws -> String {
    var bytes: [UInt8] = []
    while let piece = try read() { bytes.append(contentsOf: piece) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(message: Printable.text("\(name) is not UTF-8"))
    }
    return text
  }
}
