// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument

/// The files that SQLite keeps next to a database: the write-ahead log, its index, and a rollback journal.
struct LogFiles {
  private let path: String
  /// The path from which SQLite derives their names: it follows symbolic links. In bytes, which need not be
  /// UTF-8.
  private let resolved: [CChar]

  init(of path: String) {
    self.path = path
    let found = realpath(path, nil)
    defer { free(found) }
    resolved = found.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) } ?? path.bytes
  }

  private var log: [CChar] { beside("-wal") }
  private var index: [CChar] { beside("-shm") }
  private var journal: [CChar] { beside("-journal") }

  private func beside(_ suffix: String) -> [CChar] { resolved + suffix.bytes + [0] }

  /// Checks that this user can open the write-ahead log.
  ///
  /// Reading a database in WAL mode requires the log and its index, through which readers and writers see each
  /// other. If they do not exist, SQLite creates them, even for a read-only connection. This user must have
  /// permission to create them, and must own the database or have write access to it: otherwise its owner could
  /// not write to a log that belongs to a different user.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen``.
  func requireAccess() throws(StoreError) {
    guard access(path, F_OK) == 0, access(log, F_OK) != 0 || access(index, F_OK) != 0 else {
      return
    }
    let folder =
      (resolved.lastIndex(of: CChar(UInt8(ascii: "/"))).map { resolved[...$0] } ?? []) + [0]
    let mayCreate = access(Array(folder), W_OK | X_OK) == 0 && (access(path, W_OK) == 0 || isOwn)
    guard !mayCreate, try usesLog() else { return }
    throw StoreError(
      .cannotOpen,
      "Reading the file requires a write-ahead log, which this user is not permitted to create",
      [
        .path: path,
        .hint:
          "open it while its owner has it open, as a user with write access to the file and its folder, or, "
          + "if nothing changes the file meanwhile, as immutable",
      ])
  }

  /// Checks that there are no logs, because an immutable open ignores them and the commits in them.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen``.
  func requireNone() throws(StoreError) {
    guard Self.size(log) > 0 || Self.size(journal) > 0 else { return }
    throw StoreError(
      .cannotOpen, "The file has a log with transactions that an immutable open would not see",
      [.path: path, .hint: "open it normally, or close every program that uses it first"])
  }

  private var isOwn: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_uid == geteuid()
  }

  /// Removes an empty log and its index.
  ///
  /// A read-only connection creates both and does not remove them. SQLite removes them, under its locks, when
  /// the last connection with write access closes; so this opens and closes one. Files that other connections
  /// use remain.
  func removeIfEmpty() {
    guard access(log, F_OK) == 0, Self.size(log) == 0, access(path, W_OK) == 0 else { return }
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { return }
    sqlite3_exec(handle, "SELECT 1 FROM sqlite_schema", nil, nil, nil)
  }

  /// Whether the header specifies WAL mode; `false` for an empty file
  /// (https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
  ///
  /// Reads through SQLite: closing a separate file descriptor would release every lock that the process holds on
  /// the file
  /// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
  /// The schema is not read, so SQLite does not open the log.
  private func usesLog() throws(StoreError) -> Bool {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil)
    guard code == SQLITE_OK, let handle else {
      throw SQLiteErrors.error(code, nil, operation: "open").adding(.path, path)
    }
    var file: UnsafeMutablePointer<sqlite3_file>?
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard let file, let read = file.pointee.pMethods?.pointee.xRead else { return false }
    var versions: [UInt8] = [0, 0]
    return read(file, &versions, 2, 18) == SQLITE_OK && versions.contains(2)
  }

  /// The size in bytes; 0 for a file that does not exist.
  private static func size(_ path: [CChar]) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }
}

extension String {
  fileprivate var bytes: [CChar] { utf8.map { CChar(bitPattern: $0) } }
}
