// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument
package import NanoEngine

extension SQLiteEngine {
  /// Saves whatever can be read of a damaged file into a new one.
  ///
  /// The file is never written to, nor are those beside it: they are copied to where the new file is to
  /// be, and the copy is read page by page, without SQLite. Nobody should write to it meanwhile.
  ///
  /// - Parameters:
  ///   - path: The damaged file.
  ///   - destination: The new file, which is there whole or not at all.
  ///   - progress: Called with 0...1; throwing from it ends the call and leaves nothing behind.
  /// - Returns: What was saved and what was not.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no file, ``StoreError/Code/alreadyExists``,
  ///   ``StoreError/Code/notADatabase`` if nothing in it looks like a store.
  package static func recover(
    from path: String, to destination: BackupDestination,
    progress: ((Double) throws -> Void)? = nil
  ) throws -> RecoveryReport {
    let source = DatabaseFile.resolved(try DatabaseFile.absolute(path))
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder),
      !isFolder.boolValue
    else { throw StoreError(.cannotOpen, "There is no file to recover from", [.path: source]) }
    let target = try BackupTarget(destination, source: source)
    let damaged = DamagedCopy(of: source, for: target)
    defer { target.file.remove() }
    do {
      try target.makeCopy(isPrivate: false)
      try damaged.make()
      let report = try Recovery(damaged).run(into: target.file.copy, progress)
      try target.file.moveIntoPlace()
      return report
    } catch let error as StoreError where error.code == .notADatabase {
      throw error.replacing(.path, source)
    } catch let error as StoreError where error[.path]?.hasPrefix(target.file.copy) == true {
      throw error.replacing(.path, target.path)
    } catch {
      throw DatabaseFile.explained(error, target.path)
    }
  }
}

/// A copy of a damaged file with its logs, for SQLite to finish what can be finished. It is removed with the
/// unfinished file.
struct DamagedCopy {
  private let source: String
  private let target: BackupTarget
  var path: String { target.file.copy + UnfinishedFile.damaged }

  init(of source: String, for target: BackupTarget) {
    self.source = source
    self.target = target
  }

  func make() throws(StoreError) {
    try copy("")
    for suffix in ["-wal", "-journal"]
    where FileManager.default.fileExists(atPath: source + suffix) { try copy(suffix) }
    settle()
  }

  /// Bytes that are copied at once. Arbitrary.
  private static let pieceLength = 1 << 20

  private func copy(_ suffix: String) throws(StoreError) {
    let input = open(source + suffix, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw unreadable(suffix) }
    defer { close(input) }
    let output = open(path + suffix, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw unwritable }
    defer { close(output) }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceLength, alignment: 1)
    defer { piece.deallocate() }
    while true {
      let count = read(input, piece.baseAddress, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(suffix) }
      if count == 0 { return }
      var start = 0
      while start < count {
        let written = write(output, piece.baseAddress! + start, count - start)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw unwritable }
        start += written
      }
    }
  }

  private func unreadable(_ suffix: String) -> StoreError {
    SystemError.error("The damaged file cannot be read", path: source + suffix, errno)
  }
  private var unwritable: StoreError {
    SystemError.error(
      "The damaged file cannot be copied to where the new file is to be", path: target.path, errno)
  }

  /// Lets SQLite put the log into the file, or undo what a journal says was not committed. It does neither
  /// for a file that it does not take for a database.
  private func settle() {
    var settings = GRDB.Configuration()
    settings.foreignKeysEnabled = false
    guard let queue = try? DatabaseQueue(path: path, configuration: settings) else { return }
    queue.unsafeRead { db in
      guard let handle = db.sqliteConnection else { return }
      sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nil, nil, nil)
      sqlite3_exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
    }
    try? queue.close()
  }

  /// What is left of the log.
  var log: String? {
    FileManager.default.fileExists(atPath: path + "-wal") ? path + "-wal" : nil
  }
}
