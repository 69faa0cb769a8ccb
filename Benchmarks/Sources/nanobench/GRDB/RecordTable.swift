// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import GRDB
import NanoStore

/// The table of a kind of GRDB record.
struct RecordTable<Record: StoredPerson> {
  let queue: DatabaseQueue

  /// Creates an empty table in a new file.
  init(_ file: String, durability: Durability = .normal) throws {
    queue = try DatabaseQueue(path: file, configuration: .benchmark())
    // Opening with write-ahead logging sets the durability to NORMAL.
    try queue.inDatabase { db in
      for pragma in durability.pragmas { try db.execute(sql: pragma) }
      try Record.createTable(db)
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
        try Record(id: key, person).insert(db)
      }
    }
  }

  func createIndex(_ column: String) throws {
    try queue.write { db in
      try db.create(
        index: "person_\(column)", on: Record.databaseTableName, columns: [column])
    }
  }

  func checkpoint() throws {
    try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
  }

  func count() throws -> Int { try queue.read(Record.fetchCount) }
}

extension Configuration {
  /// Write-ahead logging and the settings of the other variants, for every connection.
  static func benchmark(maximumReaders: Int = 1) -> Configuration {
    var configuration = Configuration()
    configuration.journalMode = .wal
    configuration.maximumReaderCount = maximumReaders
    // As in NanoStore. Without it, a writer fails while another connection recovers the log.
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { db in
      for pragma in Durability.normal.pragmas { try db.execute(sql: pragma) }
    }
    return configuration
  }
}
