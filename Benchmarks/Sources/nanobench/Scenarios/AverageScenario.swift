// SPDX-License-Identifier: MIT

import BenchmarkKit
import GRDB

/// Computes the average salary of all documents without an index. The result is the average in cents.
struct AverageScenario: Scenario {
  let workload: Workload

  let name = "average"
  let work = "average, no index"
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant {
    Variant("raw SQLite C, json_extract") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      let select = try table.connection.prepare("SELECT avg(\(RawTable.field("Salary"))) FROM d")
      return { watch in
        try watch.measure {
          defer { select.reset() }
          return try select.step() ? select.double(0).cents : 0
        }
      }
    }
  }

  var record: Variant? { variant("GRDB Codable record, real column", PersonRecord.self) }

  var others: [Variant] {
    [
      Variant(Comparison.realColumns) { [workload] folder in
        let table = try ColumnTable.filled(folder, workload)
        let select = try table.connection.prepare("SELECT avg(salary) FROM p")
        return { watch in
          try watch.measure {
            defer { select.reset() }
            return try select.step() ? select.double(0).cents : 0
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
        try watch.measure { try table.queue.read(Record.averageSalary)?.cents ?? 0 }
      }
    }
  }
}
