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
    let present = ["-wal", "-journal"].filter { suffix in
      if case .file(let size, _)? = try? FileStatus(source + suffix) { size > 0 } else { false }
    }
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
      try FileManager.default.copyItem(atPath: source, toPath: target)
    } catch {
      throw StoreError(
        .inputOutput, "The file cannot be copied to the temporary folder",
        [.path: source, .engineMessage: "\(error)"])
    }
    // The copy of a read-only file is read-only, and SQLite could not apply the log.
    chmod(target, 0o600)
  }

  /// Lets SQLite checkpoint the log into the file, or roll back an uncommitted transaction from a journal. SQLite does
  /// neither if it does not recognize the file as a database.
  static func applyLogs(_ path: String) {
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

  /// The path of the log, if SQLite did not apply it.
  var log: String? {
    if case .file(let size, _)? = try? FileStatus(path + "-wal"), size > 0 {
      path + "-wal"
    } else {
      nil
    }
  }
}
