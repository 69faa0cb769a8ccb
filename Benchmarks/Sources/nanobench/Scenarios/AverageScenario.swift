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

  var record: Variant? {
    Variant("GRDB Codable record, real column") { [workload] folder in
      let table = try RecordTable.filled(folder, workload)
      let request = PersonRecord.select(average(PersonRecord.Columns.salary), as: Double.self)
      return { watch in
        try watch.measure { try table.queue.read { db in try request.fetchOne(db) }?.cents ?? 0 }
      }
    }
  }
}
