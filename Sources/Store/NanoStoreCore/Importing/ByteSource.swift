// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// A file or the standard input, read in chunks.
package final class ByteSource {
  package let name: String
  /// The total number of bytes; nil if unknown, as for a pipe.
  package let size: Int?
  private let descriptor: Int32
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 1)

  /// Larger chunks are no faster.
  private static let pieceSize = 1 << 20

  /// Opens a file.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen``.
  package convenience init(path: String) throws(StoreError) {
    let descriptor = open(path, O_RDONLY)
    self.init(path, descriptor, size: try Self.size(of: descriptor, path))
  }

  /// Opens the standard input of the process.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen``.
  package convenience init(standardInput: Void) throws(StoreError) {
    let name = "standard input"
    self.init(name, STDIN_FILENO, size: try Self.size(of: STDIN_FILENO, name))
  }

  private init(_ name: String, _ descriptor: Int32, size: Int?) {
    self.name = name
    self.descriptor = descriptor
    self.size = size
  }

  /// Returns the size of an opened file; nil if unknown. Closes the file if it throws.
  private static func size(of descriptor: Int32, _ name: String) throws(StoreError) -> Int? {
    var about = stat()
    guard descriptor >= 0, fstat(descriptor, &about) == 0 else {
      let error = Self.failure(.cannotOpen, name)
      closeFile(descriptor)
      throw error
    }
    guard about.st_mode & S_IFMT != S_IFDIR else {
      closeFile(descriptor)
      throw StoreError(.cannotOpen, "A folder cannot be read as a file", [.path: name])
    }
    return about.st_mode & S_IFMT == S_IFREG ? Int(about.st_size) : nil
  }

  private static func closeFile(_ descriptor: Int32) {
    if descriptor > STDIN_FILENO { close(descriptor) }
  }

  deinit {
    buffer.deallocate()
    Self.closeFile(descriptor)
  }

  /// Returns the next bytes, valid until the next call; nil at the end.
  ///
  /// - Throws: ``StoreError/Code/inputOutput``.
  package func read() throws(StoreError) -> UnsafeRawBufferPointer? {
    while true {
      let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
      if count > 0 { return UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
      if count == 0 { return nil }
      guard errno == EINTR else { throw Self.failure(.inputOutput, name) }
    }
  }

  private static func failure(_ code: StoreError.Code, _ name: String) -> StoreError {
    StoreError(
      code, "The file cannot be read",
      [.path: name, .engineMessage: String(cString: strerror(errno))])
  }
}
