// SPDX-License-Identifier: MIT

import BenchmarkKit

/// Inserts all documents into a new file in one transaction, including the commit and a checkpoint. Raw SQLite gets
/// encoded bodies or columns; the others encode them. The result is the number inserted.
struct InsertScenario: Scenario {
  let workload: Workload

  let name = "insert"
  let work = "insert in one transaction"
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant {
    Variant("raw SQLite C, encoded before") { [workload] folder in
      { watch in
        let table = try RawTable(folder.freshFile("raw.db"))
        try watch.measure {
          try table.insertAll(workload.stored)
          try table.checkpoint()
        }
        return try table.count()
      }
    }
  }

  var record: Variant? { variant("GRDB Codable record", PersonRecord.self) }

  var others: [Variant] {
    [
      Variant(Comparison.realColumns) { [workload] folder in
        let columns = workload.columns
        return { watch in
          let table = try ColumnTable(folder.freshFile("columns.db"))
          try watch.measure {
            try table.insertAll(workload.stored, columns)
            try table.checkpoint()
          }
          return try table.count()
        }
      },
      variant(Comparison.handWritten, PersonRow.self),
    ]
  }

  private func variant<Record: StoredPerson>(_ name: String, _: Record.Type) -> Variant {
    Variant(name) { [workload] folder in
      { watch in
        let table = try RecordTable<Record>(folder.freshFile("record.db"))
        try watch.measure {
          try table.insertAll(workload)
          try table.checkpoint()
        }
        return try table.count()
      }
    }
  }
}
