// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument
package import NanoEngine
import NanoSQL

extension SQLiteEngine {
  /// Copies the pages into a temporary file next to the destination, then renames it, so that a backup is
  /// complete or absent.
  package func backup(
    to destination: BackupDestination, progress: ((Double) throws -> Void)?
  ) throws {
    // The copy is read by a connection of its own, which a closed engine could still open.
    try requireUsable()
    let target = try BackupTarget(destination, source: path)
    defer { target.file.remove() }
    do {
      try target.createFile(isPrivate: configuration.isPrivate)
      let copy = try DatabaseQueue(path: target.file.copy)
      do {
        // SQLite opens a file read-only if the system denies write access.
        let isReadOnly = copy.unsafeRead { sqlite3_db_readonly($0.sqliteConnection, "main") } != 0
        guard !isReadOnly else {
          throw StoreError(.cannotOpen, "The copy could not be opened for writing")
        }
        try copyAll(to: copy, at: target.path, progress)
        try FeedSchema.beginTimelines(copy)
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

  /// The number of pages per step: about 4 MB, so that other connections wait a few milliseconds at most.
  private static let pagesPerStep: Int32 = 1_000

  /// Copies one snapshot while writers continue, if there is a WAL. Otherwise uses the writing connection for
  /// one step at a time; changes that it makes between steps reach the copy too.
  private func copyAll(
    to copy: DatabaseQueue, at target: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    guard let path, configuration.journalMode == .wal, !configuration.isReadOnly else {
      return try copyInSteps(to: copy, at: target, progress)
    }
    let source = try DatabaseFile.open(path, .file(path), configuration, isReader: true)
    defer { try? source.close() }
    // It was opened by its path, at which there may be a different file by now.
    try requireSameFile()
    try source.unsafeRead { db in
      let connection = SQLiteConnection(db.sqliteConnection!, isReadOnly: true)
      defer { connection.removeAll() }
      try connection.transaction(SQLiteConnection.reading) {
        // The first read determines the snapshot; without it, each step would use a new one and restart after
        // every write.
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
    let steps = try onWriter(nil) { connection in
      let steps = try BackupSteps(from: connection.handle, to: copy, at: target)
      backups.append(steps)
      return steps
    }
    defer { end(steps) }
    var reached = 0.0
    var pages = Self.pagesPerStep
    while try !onWriter(nil, { _ in try steps.step(pages) }) {
      // SQLite restarts the backup when another process, or a store without a file, was written to. In that case
      // everything is copied in one step, because the backup might otherwise never finish.
      if steps.progress <= reached { pages = -1 }
      reached = max(reached, steps.progress)
      try progress?(reached)
    }
    try progress?(1)
  }
}

/// SQLite's online backup, a few pages at a time.
final class BackupSteps {
  private var backup: OpaquePointer?
  private let target: OpaquePointer
  private let path: String
  private(set) var progress = 0.0

  /// - Parameter path: The destination as specified by the caller, for write errors.
  init(from source: OpaquePointer, to copy: DatabaseQueue, at path: String) throws {
    self.path = path
    target = copy.unsafeRead { $0.sqliteConnection! }
    backup = sqlite3_backup_init(target, "main", source, "main")
    guard backup != nil else { throw SQLiteErrors.error(of: target, operation: "backup") }
  }

  /// Copies the next pages; returns `true` when everything is copied.
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
      // Other errors are caused by reading the source.
      throw [.full, .readOnly].contains(error.code) ? error.adding(.path, path) : error
    }
  }

  func finish() {
    sqlite3_backup_finish(backup)
    backup = nil
  }
}

/// The destination of a file created from a store, with the temporary file that is renamed to it.
struct BackupTarget {
  let path: String
  let file: UnfinishedFile
  private let source: String?

  init(_ destination: BackupDestination, source: String?) throws(StoreError) {
    guard !destination.path.isEmpty, !destination.path.utf8.contains(0) else {
      throw StoreError(.invalidArgument, "The path of a backup is empty or contains a NUL")
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
        .cannotOpen, "A folder exists at the path of the backup", [.path: path])
    }
    guard destination.replacing else {
      throw StoreError(
        .alreadyExists,
        "A file exists at the path of the backup, which does not replace it by default",
        [.path: path])
    }
  }

  /// Creates the temporary file. It is readable by no more users than the source, and writable by its owner even
  /// if the source is not.
  func createFile(isPrivate: Bool) throws(StoreError) {
    var source = stat()
    let hasSource = self.source.map { stat($0, &source) == 0 } ?? false
    try file.create(mode: isPrivate ? 0o600 : hasSource ? source.st_mode & 0o666 | 0o600 : 0o644)
  }

  /// Returns the destination file; in a folder, a file with the source's name, or "store.db" if the source has
  /// none.
  private static func file(_ path: String, _ source: String?) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else { return path }
    let name = source.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "store.db"
    return URL(fileURLWithPath: path).appendingPathComponent(name).path
  }

  /// Returns whether both paths lead to the same file, through any links.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    var first = stat()
    var second = stat()
    guard stat(a, &first) == 0, stat(b, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }
}
