// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument
package import NanoEngine
import NanoSQL

extension SQLiteEngine {
  /// Copies page by page beside the destination, then moves the copy into place, so that a backup
  /// is there whole or not at all.
  package func backup(
    to destination: BackupDestination, progress: ((Double) throws -> Void)?
  ) throws {
    let target = try BackupTarget(destination, source: path)
    defer { target.file.remove() }
    do {
      try target.makeCopy(isPrivate: configuration.isPrivate)
      let copy = try DatabaseQueue(path: target.file.copy)
      do {
        // SQLite opens a file for reading when the system does not let it write.
        let isReadOnly = copy.unsafeRead { sqlite3_db_readonly($0.sqliteConnection, "main") } != 0
        guard !isReadOnly else {
          throw StoreError(.cannotOpen, "The copy could not be opened for writing")
        }
        try copyAll(to: copy, at: target.path, progress)
      } catch {
        try? copy.close()
        throw error
      }
      try copy.close()
    } catch {
      throw DatabaseFile.explained(error, target.path)
    }
    try target.file.moveIntoPlace()
  }

  /// Pages that one step copies: about 4 MB, so that others wait a few milliseconds at most.
  private static let pagesPerStep: Int32 = 1_000

  /// With a WAL one snapshot is read, beside the writer. Otherwise the writing connection is used
  /// for one step after the other; what it writes in between reaches the copy too.
  private func copyAll(
    to copy: DatabaseQueue, at target: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    guard let path, configuration.journalMode == .wal, !configuration.isReadOnly else {
      return try copyInSteps(to: copy, at: target, progress)
    }
    let source = try DatabaseFile.open(path, .file(path), configuration, isReader: true)
    defer { try? source.close() }
    // Opened by its path, which may lead to another file by now.
    try requireSameFile()
    try source.unsafeRead { db in
      let connection = SQLiteConnection(db.sqliteConnection!, isReadOnly: true)
      defer { connection.removeAll() }
      try connection.transaction("BEGIN DEFERRED") {
        // The snapshot is that of the first read; without one each step would take its own, and
        // begin again after every write.
        _ = try connection.first(SQLFragment("SELECT 1 FROM sqlite_schema")) { _ in true }
        let steps = try BackupSteps(from: connection.handle, to: copy, at: target)
        defer { steps.finish() }
        while try !steps.step(Self.pagesPerStep) { try progress?(steps.progress) }
      }
    }
    try progress?(1)
  }

  private func copyInSteps(
    to copy: DatabaseQueue, at target: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    let steps = try onWriter(nil) { try BackupSteps(from: $0.handle, to: copy, at: target) }
    defer { _ = try? onWriter(nil) { _ in steps.finish() } }
    var reached = 0.0
    var pages = Self.pagesPerStep
    while try !onWriter(nil, { _ in try steps.step(pages) }) {
      // SQLite begins again when a store without a file, or another process, was written to; then
      // all is copied at once, or it might never end.
      if steps.progress <= reached { pages = -1 }
      reached = max(reached, steps.progress)
      try progress?(reached)
    }
    try progress?(1)
  }
}

/// SQLite's own copying, a few pages at a time.
private final class BackupSteps {
  private var backup: OpaquePointer?
  private let target: OpaquePointer
  private let path: String
  private(set) var progress = 0.0

  /// - Parameter path: The destination that the caller knows, for errors of writing.
  init(from source: OpaquePointer, to copy: DatabaseQueue, at path: String) throws {
    self.path = path
    target = copy.unsafeRead { $0.sqliteConnection! }
    backup = sqlite3_backup_init(target, "main", source, "main")
    guard backup != nil else { throw SQLiteErrors.error(of: target, operation: "backup") }
  }

  /// True when everything is copied.
  func step(_ pages: Int32) throws -> Bool {
    guard let backup else { throw SQLiteEngine.closed }
    let code = sqlite3_backup_step(backup, pages)
    let total = Double(max(1, sqlite3_backup_pagecount(backup)))
    progress = 1 - Double(sqlite3_backup_remaining(backup)) / total
    switch code {
    case SQLITE_OK: return false
    case SQLITE_DONE:
      finish()
      return true
    default:
      let error = SQLiteErrors.error(code, nil, operation: "backup")
      // The rest is of reading the source.
      throw [.full, .readOnly].contains(error.code) ? error.adding(.path, path) : error
    }
  }

  func finish() {
    sqlite3_backup_finish(backup)
    backup = nil
  }
}

/// Where a new file goes that is made of a store, and the file beside it that becomes it when it is whole.
struct BackupTarget {
  let path: String
  let file: UnfinishedFile
  private let source: String?

  init(_ destination: BackupDestination, source: String?) throws(StoreError) {
    guard !destination.path.isEmpty, !destination.path.utf8.contains(0) else {
      throw StoreError(.invalidArgument, "The path of a backup is empty or holds a NUL")
    }
    self.source = source
    path = Self.file(try DatabaseFile.absolute(destination.path), source)
    file = UnfinishedFile(for: path)
    if let source, Self.isSame(source, path) {
      throw StoreError(
        .invalidArgument, "A store cannot be backed up onto itself", [.path: path])
    }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
    guard !isFolder.boolValue else {
      throw StoreError(
        .cannotOpen, "A folder has the name that the backup was to have", [.path: path])
    }
    guard destination.replacing else {
      throw StoreError(
        .alreadyExists, "A file is there already; a backup does not replace it unless told",
        [.path: path])
    }
  }

  /// Not readable for more people than the source; written to by its owner, also where that may only be read.
  func makeCopy(isPrivate: Bool) throws(StoreError) {
    var source = stat()
    let isThere = self.source.map { stat($0, &source) == 0 } ?? false
    try file.create(mode: isPrivate ? 0o600 : isThere ? source.st_mode & 0o666 | 0o600 : 0o644)
  }

  /// In a folder, a file with the name of the source, or "store.db" if that has none.
  private static func file(_ path: String, _ source: String?) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else { return path }
    let name = source.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "store.db"
    return URL(fileURLWithPath: path).appendingPathComponent(name).path
  }

  /// Whether both lead to one file, by whatever links and detours.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    var first = stat()
    var second = stat()
    guard stat(a, &first) == 0, stat(b, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }
}
