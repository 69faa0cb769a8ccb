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

  var record: Variant? {
    Variant("GRDB Codable record, real column") { [workload] folder in
      let table = try RecordTable.filled(folder, workload)
      let request = PersonRecord.order(PersonRecord.Columns.salary, Column.rowID).limit(20)
      return { watch in
        try watch.measure {
          try table.queue.read { db in try request.fetchAll(db) }
            .reduce(0) { $0 + $1.salary.cents }
        }
      }
    }
  }
}
