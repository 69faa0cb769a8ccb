// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The use of a write-ahead file, which Tokyo Cabinet leaves behind if a transaction did not end.
///
/// The write-ahead file holds the original size of the database and the old content of each range that
/// the transaction overwrote.
enum HashDatabaseRecovery: Equatable {
  /// There is no write-ahead file, or no transaction was unfinished.
  case none
  /// The transaction was rolled back in a private copy. The last of the entries may be incomplete, which
  /// is harmless, because its range was not overwritten yet.
  case rolledBack(entries: Int)
  /// The write-ahead file is damaged at this offset. The entries before it were used.
  case damaged(entries: Int, offset: Int64)

  /// Opens a database, or a recovered private copy of it that disappears when it is closed.
  static func open(
    _ path: String
  ) throws(StoreError) -> (file: WindowedFile, recovery: HashDatabaseRecovery) {
    let file = try WindowedFile(path)
    guard let header = try file.bytes(0, HashDatabaseHeader.size),
      HashDatabaseHeader.hasMagic(header), header[33] & 1 != 0
    else { return (file, .none) }
    let logPath = path + ".wal"
    guard access(logPath, F_OK) == 0 else { return (file, .none) }
    let log = try WindowedFile(logPath)
    guard let entries = try HashDatabaseLog(log, fileSize: file.count) else { return (file, .none) }
    let copy = try PrivateCopy(of: file)
    try entries.rollBack(copy, fileSize: file.count)
    return (
      try copy.opened(),
      entries.damage.map { .damaged(entries: entries.count, offset: $0) }
        ?? .rolledBack(entries: entries.count)
    )
  }
}

/// A write-ahead file, checked and ready to be applied.
private struct HashDatabaseLog {
  let file: WindowedFile
  let originalSize: Int64
  /// The positions of the entries in the file.
  let positions: [Int64]
  let isBigEndian: Bool
  /// Where the file contradicts itself, as opposed to being cut off.
  let damage: Int64?
  private let lastRange: Int64

  var count: Int { positions.count }
  private static let entryHeaderSize = 12

  /// Returns `nil` for a file without a complete first entry, after which nothing had been overwritten.
  init?(_ file: WindowedFile, fileSize: Int64) throws(StoreError) {
    self.file = file
    guard file.count >= Int64(8 + Self.entryHeaderSize + HashDatabaseHeader.size),
      let start = try file.bytes(0, 20)
    else { return nil }
    // The first entry is always the header of the database.
    let header = UInt32(HashDatabaseHeader.size)
    let byteOrder = [false, true].first {
      start.unsigned64(8, $0) == 0 && start.unsigned32(16, $0) == header
    }
    isBigEndian = byteOrder ?? false
    originalSize = start.signed64(0, isBigEndian)
    guard byteOrder != nil, originalSize >= Int64(HashDatabaseHeader.size) else {
      (positions, damage, lastRange) = ([], 0, 0)
      return
    }
    // What the database file no longer has must be in this file, which limits the size of the copy.
    let end = min(originalSize, fileSize + file.count)
    var found: [Int64] = []
    var position: Int64 = 8
    var damage: Int64?
    var last: Int64 = 0
    while let bytes = try file.bytes(position, Self.entryHeaderSize) {
      let offset = bytes.signed64(0, isBigEndian)
      let size = Int64(bytes.unsigned32(8, isBigEndian))
      // The library never saves what lies after the original end.
      guard offset >= 0, size > 0, offset <= originalSize, size <= originalSize - offset else {
        damage = position
        break
      }
      let next = position + Int64(Self.entryHeaderSize) + size
      guard next <= file.count else { break }
      // An entry far beyond the end of a truncated database restores nothing that is readable.
      if offset + size <= end {
        found.append(position)
        last = max(last, offset + size)
      }
      position = next
    }
    positions = found
    self.damage = damage
    lastRange = last
  }

  /// Writes the old content back, last entry first, and restores the original size.
  func rollBack(_ copy: PrivateCopy, fileSize: Int64) throws(StoreError) {
    guard !positions.isEmpty else { return }
    for position in positions.reversed() {
      guard let bytes = try file.bytes(position, Self.entryHeaderSize) else { continue }
      let offset = bytes.signed64(0, isBigEndian)
      var remaining = Int64(bytes.unsigned32(8, isBigEndian))
      var source = position + Int64(Self.entryHeaderSize)
      var target = offset
      while remaining > 0 {
        let count = Int(min(remaining, PrivateCopy.chunk))
        guard let content = try file.bytes(source, count) else { break }
        try copy.write(content, at: target)
        source += Int64(count)
        target += Int64(count)
        remaining -= Int64(count)
      }
    }
    // A size that neither the file nor the entries justify would only add a hole.
    try copy.resize(min(originalSize, max(fileSize, lastRange)))
  }
}

/// An unnamed temporary file with the content of another file.
private final class PrivateCopy {
  static let chunk: Int64 = 1 << 16
  private var descriptor: Int32

  init(of file: WindowedFile) throws(StoreError) {
    var name = Array(
      (NSTemporaryDirectory() + "/nanostore-import-XXXXXX").utf8CString)
    descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw Self.error() }
    unlink(name)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var offset: Int64 = 0
    while offset < file.count {
      let count = Int(min(Self.chunk, file.count - offset))
      guard let bytes = try file.bytes(offset, count) else { break }
      try write(bytes, at: offset)
      offset += Int64(count)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
    var written = 0
    while written < bytes.count {
      let result = pwrite(
        descriptor, bytes.baseAddress! + written, bytes.count - written,
        off_t(offset) + off_t(written))
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw Self.error() }
      written += result
    }
  }

  func resize(_ size: Int64) throws(StoreError) {
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.error() }
  }

  /// Returns the copy for reading. It cannot be written to afterward.
  func opened() throws(StoreError) -> WindowedFile {
    let adopted = descriptor
    descriptor = -1
    return try WindowedFile(adopting: adopted, path: "a recovered copy")
  }

  private static func error() -> StoreError {
    StoreError(
      errno == ENOSPC || errno == EDQUOT ? .full : .inputOutput,
      "The database of an unfinished transaction cannot be copied for recovery",
      [
        .engineMessage: String(cString: strerror(errno)),
        .hint: "free some space in the folder for temporary files",
      ])
  }
}
