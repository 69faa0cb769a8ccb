// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The memory-mapped bytes of a file that is not changed while it is mapped.
final class MappedFile {
  let bytes: UnsafeRawBufferPointer

  /// - Throws: ``StoreError/Code/inputOutput``.
  init(_ path: String) throws(StoreError) {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { throw Self.unreadable(path) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw Self.unreadable(path) }
    guard status.st_size > 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    guard let start = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, file, 0),
      start != MAP_FAILED
    else { throw Self.unreadable(path) }
    bytes = UnsafeRawBufferPointer(start: start, count: Int(status.st_size))
  }

  deinit {
    if let start = bytes.baseAddress {
      munmap(UnsafeMutableRawPointer(mutating: start), bytes.count)
    }
  }

  /// Removes the pages that were read from the process's memory. They are read again when needed.
  func release() {
    if let start = bytes.baseAddress {
      madvise(UnsafeMutableRawPointer(mutating: start), bytes.count, MADV_DONTNEED)
    }
  }

  private static func unreadable(_ path: String) -> StoreError {
    SystemError.error("The file cannot be read", path: path, errno)
  }
}

extension UnsafeRawBufferPointer {
  /// Numbers in the file are big-endian. The caller has checked the bounds.
  func number16(_ offset: Int) -> Int {
    Int(UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }
  func number32(_ offset: Int) -> Int {
    Int(UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  /// Returns a variable-length number of one to nine bytes and its end; `nil` if it exceeds the bounds.
  func variableNumber(_ offset: Int) -> (value: Int64, end: Int)? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard offset >= 0, offset + index < count else { return nil }
      let byte = self[offset + index]
      if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), offset + 9) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { return (Int64(bitPattern: value), offset + index + 1) }
    }
    return nil
  }
}
