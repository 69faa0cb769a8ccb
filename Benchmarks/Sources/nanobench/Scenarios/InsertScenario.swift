// SPDX-License-Identifier: MIT

import BenchmarkKit

/// Inserts all documents into a new file in one transaction, including the commit and a checkpoint. Raw SQLite gets
/// encoded bodies; the others encode them. The result is the number inserted.
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

  var record: Variant? {
    Variant("GRDB Codable record") { [workload] folder in
      { watch in
        let table = try RecordTable(folder.freshFile("record.db"))
        try watch.measure {
          try table.insertAll(workload)
          try table.checkpoint()
        }
        return try table.count()
      }
    }
  }
}
