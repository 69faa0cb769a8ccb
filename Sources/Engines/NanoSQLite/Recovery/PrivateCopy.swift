// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument

/// A copy of a database file and its logs in a temporary folder, to which SQLite has applied the logs. The folder is
/// deleted with the value.
final class PrivateCopy {
  private let folder: String
  let path: String

  /// Returns `nil` if the file has no log or journal with content, so that it can be read in place.
  init?(ifNeededOf source: String) throws {
    let present = ["-wal", "-journal"].filter { Self.size(source + $0) > 0 }
    guard !present.isEmpty else { return nil }
    folder = NSTemporaryDirectory() + "/nanostore-" + UUID().uuidString
    path = folder + "/database"
    guard mkdir(folder, 0o700) == 0 else {
      throw SystemError.error("The temporary folder cannot be created", path: folder, errno)
    }
    do {
      for suffix in [""] + present { try Self.copy(source + suffix, to: path + suffix) }
    } catch {
      try? FileManager.default.removeItem(atPath: folder)
      throw error
    }
    Self.applyLogs(path)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private static func copy(_ source: String, to target: String) throws(StoreError) {
    do {
      try PlainCopy.make(of: source, at: target)
    } catch {
      let sentence =
        error.isOfSource
        ? "The file cannot be read" : "The file cannot be copied to the temporary folder"
      throw SystemError.error(sentence, path: source, error.number)
    }
  }

  /// Lets SQLite checkpoint the log into the file, or roll back an uncommitted transaction from a journal. SQLite does
  /// neither if it does not recognize the file as a database.
  static func applyLogs(_ path: String) {
    SuperJournal.forget(in: path + "-journal")
    let longest = ["", "-wal", "-journal"].reduce(0) { $0 + size(path + $1) }
    defer { cut(path, to: longest) }
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

  /// Removes what SQLite appended to a file without content for it.
  ///
  /// After a rollback, SQLite extends the file to the number of pages that the header of the journal specifies
  /// (https://www.sqlite.org/fileformat.html#rollbackjournal). The header has no checksum: if it is damaged, the file
  /// becomes terabytes long. All content is in the file and its logs.
  private static func cut(_ path: String, to length: Int64) {
    if size(path) > length { truncate(path, off_t(length)) }
  }

  private static func size(_ path: String) -> Int64 {
    if case .file(let size, _)? = try? FileStatus(path) { size } else { 0 }
  }

  /// The path of the log, if SQLite did not apply it.
  var log: String? {
    Self.size(path + "-wal") > 0 ? path + "-wal" : nil
  }
}
