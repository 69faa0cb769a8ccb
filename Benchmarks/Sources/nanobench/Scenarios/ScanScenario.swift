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

  var record: Variant? {
    Variant("GRDB Codable record, cursor") { [workload] folder in
      let table = try RecordTable.filled(folder, workload)
      return { watch in
        try watch.measure {
          try table.queue.read { db in
            var count = 0
            let cursor = try PersonRecord.fetchCursor(db)
            while let person = try cursor.next() { count += person.age > 0 ? 1 : 0 }
            return count
          }
        }
      }
    }
  }
}
