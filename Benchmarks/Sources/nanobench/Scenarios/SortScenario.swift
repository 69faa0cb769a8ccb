// SPDX-License-Identifier: MIT

import BenchmarkKit
import GRDB

/// Fetches the twenty documents with the lowest salary, without an index. The result is the sum of these salaries in
/// cents.
struct SortScenario: Scenario {
  let workload: Workload

  let name = "sort"
  let work = "sort, first 20, no index"
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant {
    Variant("raw SQLite C, json_extract") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      let salary = RawTable.field("Salary")
      let select = try table.connection.prepare(
        "SELECT id,key,body,\(salary) FROM d ORDER BY \(salary),id LIMIT 20")
      return { watch in
        try watch.measure {
          var cents = 0
          while try select.step() { cents += select.double(3).cents }
          select.reset()
          return cents
        }
      }
    }
  }

  var record: Variant? { variant("GRDB Codable record, real column", PersonRecord.self) }

  var others: [Variant] {
    [
      Variant(Comparison.realColumns) { [workload] folder in
        let table = try ColumnTable.filled(folder, workload)
        let select = try table.connection.prepare(
          "SELECT \(ColumnTable.all) FROM p ORDER BY salary,id LIMIT 20")
        return { watch in
          try watch.measure {
            var cents = 0
            while try select.step() { cents += select.double(6).cents }
            select.reset()
            return cents
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
          try table.queue.read { db in try Record.lowestSalaries(db, limit: 20) }
            .reduce(0) { $0 + $1.salary.cents }
        }
      }
    }
  }
}
