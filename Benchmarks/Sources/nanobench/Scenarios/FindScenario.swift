// SPDX-License-Identifier: MIT

import BenchmarkKit
import GRDB

/// Finds all documents with a given last name, a thousandth of them, with an index; once for each name. The result is
/// the total number found.
struct FindScenario: Scenario {
  let workload: Workload

  let name = "find"
  let work = "find by index"
  let unit = "document found"
  var operations: Int {
    let sought = Set(workload.soughtNames)
    return workload.people.count { sought.contains($0.lastName) }
  }

  var raw: Variant {
    Variant("raw SQLite C, step only") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      let field = RawTable.field("LastName")
      try table.connection.execute("CREATE INDEX d_lastName ON d(\(field))")
      let select = try table.connection.prepare("SELECT id,key,body FROM d WHERE \(field)=?1")
      return { watch in
        try watch.measure {
          var found = 0
          for name in workload.soughtNames {
            found += try select.withText(name) { try RawTable.countRows(select) }
          }
          return found
        }
      }
    }
  }

  var record: Variant? { variant("GRDB Codable record", PersonRecord.self) }
  var others: [Variant] { [variant(Comparison.handWritten, PersonRow.self)] }

  private func variant<Record: StoredPerson>(_ name: String, _: Record.Type) -> Variant {
    Variant(name) { [workload] folder in
      let table = try RecordTable<Record>.filled(folder, workload)
      try table.createIndex("lastName")
      return { watch in
        try watch.measure {
          var found = 0
          for name in workload.soughtNames {
            found += try table.queue.read { db in try Record.find(db, lastName: name) }.count
          }
          return found
        }
      }
    }
  }
}
