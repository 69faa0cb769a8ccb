// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoSQL

extension SQLiteEngine {
  /// Closes the database, and deletes the file if nothing was ever stored in it.
  ///
  /// This happens under an exclusive lock, so that nothing can be stored in between: a store in another process
  /// that waits for the lock finds its file replaced and writes nothing. A file that another connection uses is
  /// kept.
  package func closeDiscardingUnused() throws {
    try close { connection in
      guard let path, !configuration.isReadOnly else { return }
      // Removes the write-ahead log, which only the last connection can do.
      try connection.execute("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE")
      try connection.transaction("BEGIN EXCLUSIVE") {
        try requireSameFile()
        let stored = try connection.first(
          SQLFragment(
            // The table of attachments is created with the first one.
            "SELECT (SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
              + "AND (name NOT LIKE 'nano\\_%' ESCAPE '\\' OR name = '\(BlobSchema.table)')) "
              + "+ (SELECT count(*) FROM nano_collections) "
              + "+ (SELECT count(*) FROM nano_metadata)")
        ) { $0.int(0) }
        guard stored == 0 else { return }
        unlink(path)
      }
    }
  }
}
