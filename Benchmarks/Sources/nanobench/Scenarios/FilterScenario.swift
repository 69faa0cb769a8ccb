// SPDX-License-Identifier: MIT

import BenchmarkKit
import GRDB

/// Counts documents with a given last name in a full scan, without an index. The result is the count.
struct FilterScenario: Scenario {
  let workload: Workload

  let name = "filter"
  let work = "count with a filter, no index"
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant {
    Variant("raw SQLite C, json_extract") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      let select = try table.connection.prepare(
        "SELECT count(*) FROM d WHERE \(RawTable.field("LastName"))=?1")
      return { watch in
        try watch.measure {
          try select.withText(workload.soughtName) {
            defer { select.reset() }
            return try select.step() ? select.integer(0) : 0
          }
        }
      }
    }
  }

  var record: Variant? { variant("GRDB Codable record, real column", PersonRecord.self) }

  var others: [Variant] {
    [
      Variant(Comparison.realColumns) { [workload] folder in
        let table = try ColumnTable.filled(folder, workload)
        let select = try table.connection.prepare("SELECT count(*) FROM p WHERE lastName=?1")
        return { watch in
          try watch.measure {
            try select.withText(workload.soughtName) {
              defer { select.reset() }
              return try select.step() ? select.integer(0) : 0
            }
          }
        }
      },
      variant(Comparison.handWritten, PersonRow.self),
    ]
  }

  private func variant<Record: StoredPerson>(_ name: String, _: Record.Type) -> Variant {
    Variant(name) { [workload] folder in
      let table = try RecordTable<Record>.filled(folder, workload)
      let name = workload.soughtName
      return { watch in
        try watch.measure { try table.queue.read { db in try Record.count(db, lastName: name) } }
      }
    }
  }
}
