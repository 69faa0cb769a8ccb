// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument
public import NanoEngine

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
  public static func recover(
    from path: String, to destination: BackupDestination,
    progress: ((Double) throws -> Void)? = nil
  ) throws -> RecoveryReport {
    let source = try DatabaseFile.absolute(path)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder),
      !isFolder.boolValue
    else { throw StoreError(.cannotOpen, "There is no file to recover from", [.path: source]) }
    let target = try BackupTarget(destination, source: source)
    let damaged = DamagedCopy(of: source, beside: target.copy)
    defer {
      target.removeCopy()
      damaged.remove()
    }
    do {
      try damaged.make()
      try target.makeCopy(isPrivate: false)
      let report = try Recovery(damaged).run(into: target.copy, progress)
      try target.moveIntoPlace()
      return report
    } catch {
      throw DatabaseFile.explained(error, target.path)
    }
  }
}

/// A copy of a damaged file with its logs, for SQLite to finish what can be finished.
struct DamagedCopy {
  private let source: String
  let path: String

  init(of source: String, beside copy: String) {
    self.source = source
    path = copy + ".damaged"
  }

  func make() throws {
    do {
      for suffix in ["", "-wal", "-journal"]
      where FileManager.default.fileExists(atPath: source + suffix) {
        try FileManager.default.copyItem(atPath: source + suffix, toPath: path + suffix)
        chmod(path + suffix, S_IRUSR | S_IWUSR)
      }
    } catch {
      throw StoreError(
        .inputOutput, "The damaged file cannot be copied",
        [.path: source, .engineMessage: "\(error)"])
    }
    settle()
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

  func remove() {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
  }
}
