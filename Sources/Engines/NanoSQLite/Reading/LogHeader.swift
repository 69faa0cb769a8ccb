// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoEngine
import Synchronization

/// The header of the index of the write-ahead log, in the memory that all processes with the file open share.
///
/// Each commit changes it (https://www.sqlite.org/walformat.html#the_wal_index_header), and a connection whose cached
/// pages belong to the same header does not read them again. Comparing it takes no lock of the file and no system call,
/// where the shortest transaction takes several.
final class LogHeader: Sendable {
  // @unchecked: `start` is read-only memory that is mapped as long as the connection is open; `Mutex` protects the
  // order of reading and closing.
  private struct Mapping: @unchecked Sendable {
    let file: UnsafeMutablePointer<sqlite3_file>
    let start: UnsafeRawPointer
  }
  private let mapping: Mutex<Mapping?>

  /// - Parameter connection: A connection in WAL mode that has read from the file, so that the memory is mapped.
  init?(of connection: OpaquePointer) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard
      sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file, let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2
    else { return nil }
    var start: UnsafeMutableRawPointer?
    guard methods.xShmMap?(file, 0, Self.regionSize, 0, &start) == SQLITE_OK, let start else {
      return nil
    }
    mapping = Mutex(Mapping(file: file, start: UnsafeRawPointer(start)))
  }

  /// The size with which SQLite maps the index.
  private static let regionSize: Int32 = 32_768
  /// The length of one of the header's two copies.
  private static let copySize = 48
  /// The version of the format (https://www.sqlite.org/walformat.html).
  private static let version: UInt32 = 3_007_000

  /// `nil` while another connection commits, and once the connection is closed.
  var lastCommit: CommitStamp? {
    mapping.withLock { mapping in
      guard let mapping else { return nil }
      // A writer changes the second copy first, and a reader trusts them if they are equal.
      let first = Self.copy(mapping.start)
      mapping.file.pointee.pMethods.pointee.xShmBarrier?(mapping.file)
      let second = Self.copy(mapping.start + Self.copySize)
      guard first == second, mapping.start.load(as: UInt32.self) == Self.version else {
        return nil
      }
      return first
    }
  }

  /// Everything from the number of frames on: the checksum of the last frame, the salts, and the checksum of the header.
  private static func copy(_ start: UnsafeRawPointer) -> CommitStamp {
    CommitStamp(
      words: start.loadUnaligned(fromByteOffset: 16, as: SIMD8<UInt32>.self),
      count: start.load(fromByteOffset: 8, as: UInt32.self))
  }

  /// Must be called before the connection closes.
  func close() { mapping.withLock { $0 = nil } }
}
