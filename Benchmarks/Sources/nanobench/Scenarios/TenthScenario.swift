// SPDX-License-Identifier: MIT

import BenchmarkKit
import GRDB

/// Finds a tenth of all documents with an index range, ten times. The result is the total number found.
struct TenthScenario: Scenario {
  let workload: Workload

  let name = "tenth"
  let work = "find 10% by index"
  let unit = "document found"
  static let repetitions = 10
  /// Seven of the seventy ages that people have.
  static let ages = 30..<37
  var operations: Int {
    workload.people.count { Self.ages.contains($0.age) } * Self.repetitions
  }

  var raw: Variant {
    Variant("raw SQLite C, step only") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      let field = RawTable.field("Age")
      try table.connection.execute("CREATE INDEX d_age ON d(\(field))")
      let select = try table.connection.prepare(
        "SELECT id,key,body FROM d WHERE \(field)>=?1 AND \(field)<?2")
      return { watch in
        try watch.measure {
          var found = 0
          for _ in 0..<Self.repetitions {
            select.bind(Self.ages.lowerBound, at: 1)
            select.bind(Self.ages.upperBound, at: 2)
            found += try RawTable.countRows(select)
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
      try table.createIndex("age")
      return { watch in
        try watch.measure {
          var found = 0
          for _ in 0..<Self.repetitions {
            found += try table.queue.read { db in try Record.find(db, ages: Self.ages) }.count
          }
          return found
        }
      }
    }
  }
}
