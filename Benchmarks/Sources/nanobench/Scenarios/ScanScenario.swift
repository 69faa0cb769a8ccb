// SPDX-License-Identifier: MIT

import BenchmarkKit
import GRDB

/// Reads every document in sequence. Raw SQLite only steps and reads the columns in place; the others create a value
/// for each document. The result is the number of documents.
struct ScanScenario: Scenario {
  let workload: Workload

  let name = "scan"
  let work = "scan all"
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant {
    Variant("raw SQLite C, step only") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      let select = try table.connection.prepare("SELECT id,key,body FROM d")
      return { watch in try watch.measure { try RawTable.countRows(select) } }
    }
  }

  var record: Variant? { variant("GRDB Codable record, cursor", PersonRecord.self) }

  var others: [Variant] {
    [
      Variant(Comparison.realColumns) { [workload] folder in
        let table = try ColumnTable.filled(folder, workload)
        let select = try table.connection.prepare("SELECT \(ColumnTable.all) FROM p")
        return { watch in try watch.measure { try ColumnTable.countRows(select) } }
      },
      Variant(Comparison.realColumns + ", two fields read") { [workload] folder in
        let table = try ColumnTable.filled(folder, workload)
        let select = try table.connection.prepare("SELECT lastName,age FROM p")
        return { watch in
          try watch.measure {
            var rows = 0
            while try select.step() {
              _ = (select.text(0), select.integer(1))
              rows += 1
            }
            select.reset()
            return rows
          }
        }
      },
      variant(Comparison.handWritten, PersonRow.self),
    ]
  }

  private func variant<Record: StoredPerson>(_ name: String, _: Record.Type) -> Variant {
    Variant(name) { [workload] folder in
      let table = try RecordTable<Record>.filled(folder, workload)
      return { watch in
        try watch.measure {
          try table.queue.read { db in
            var count = 0
            let cursor = try Record.fetchCursor(db)
            while let person = try cursor.next() { count += person.age > 0 ? 1 : 0 }
            return count
          }
        }
      }
    }
  }
}
