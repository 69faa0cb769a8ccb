// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import GRDB
import NanoStore

/// The table of the GRDB records.
struct RecordTable {
  let queue: DatabaseQueue

  /// Creates an empty table in a new file.
  init(_ file: String, durability: Durability = .normal) throws {
    var configuration = Configuration()
    configuration.journalMode = .wal
    queue = try DatabaseQueue(path: file, configuration: configuration)
    try queue.inDatabase { db in
      for pragma in durability.pragmas { try db.execute(sql: pragma) }
      // Two B-trees, for rows and keys, as in the table of raw SQLite.
      try db.create(table: PersonRecord.databaseTableName) { table in
        table.primaryKey("id", .blob)
        table.column("firstName", .text).notNull()
        table.column("lastName", .text).notNull()
        table.column("age", .integer).notNull()
        table.column("city", .text).notNull()
        table.column("salary", .double).notNull()
        table.column("emails", .jsonText).notNull()
        table.column("address", .jsonText).notNull()
        table.column("joined", .datetime).notNull()
      }
    }
  }

  /// Returns a table with all people, checkpointed.
  static func filled(_ folder: Folder, _ workload: Workload) throws -> RecordTable {
    let table = try RecordTable(folder.freshFile("record.db"))
    try table.insertAll(workload)
    try table.checkpoint()
    return table
  }

  func insertAll(_ workload: Workload) throws {
    try queue.write { db in
      for (key, person) in zip(workload.keys, workload.people) {
        try PersonRecord(id: key, person).insert(db)
      }
    }
  }

  func createLastNameIndex() throws {
    try queue.write { db in
      try db.create(
        index: "person_lastName", on: PersonRecord.databaseTableName, columns: ["lastName"])
    }
  }

  func checkpoint() throws {
    try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
  }

  func count() throws -> Int { try queue.read(PersonRecord.fetchCount) }
}
