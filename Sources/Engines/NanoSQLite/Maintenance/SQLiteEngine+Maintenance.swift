// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
package import NanoEngine
import NanoQuery
import NanoSQL

extension SQLiteEngine {
  package func compact() throws {
    try requireUsable()
    guard !configuration.isReadOnly else {
      throw StoreError.openedReadOnly
    }
    try onWriter(nil) { connection in
      do throws(StoreError) {
        try connection.execute("VACUUM")
      } catch {
        // For example, a schema definition that SQLite cannot run.
        throw path.map { error.adding(.path, $0) } ?? error
      }
      if path != nil { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    }
  }

  package func statistics() throws -> EngineStatistics {
    try read(.snapshot, nil) { reader in
      guard let connection = (reader as? SQLiteReader)?.connection else { throw Self.closed }
      func number(_ sql: String) throws -> Int {
        try connection.first(SQLFragment(sql)) { Int($0.int(0)) } ?? 0
      }
      func text(_ sql: String) throws -> String {
        try connection.first(SQLFragment(sql)) { $0.text(0) ?? "" } ?? ""
      }
      let pageSize = try number("PRAGMA page_size")
      var settings: [String: String] = [:]
      for name in [
        "page_size", "cache_size", "encoding", "synchronous", "journal_mode", "temp_store",
        "mmap_size", "max_page_count", "user_version",
      ] { settings[name] = try text("PRAGMA \(name)") }
      settings["busy_timeout"] = String(connection.busyTimeout)
      return EngineStatistics(
        collections: try reader.collections().map { collection in
          connection.currentCollection = collection.name
          return EngineStatistics.Collection(
            name: collection.name,
            documents: try reader.count(Query(), in: collection.name),
            indexes: try reader.indexes(in: collection.name).count)
        },
        size: try number("PRAGMA page_count") * pageSize,
        unused: try number("PRAGMA freelist_count") * pageSize,
        engine: "SQLite \(String(cString: sqlite3_libversion()))", settings: settings)
    }
  }
}
