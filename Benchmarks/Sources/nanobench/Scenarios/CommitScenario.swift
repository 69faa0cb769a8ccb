// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// Inserts documents into a new file, each in a separate transaction. The result is the number inserted.
struct CommitScenario: Scenario {
  let workload: Workload
  let durability: Durability

  var name: String { "commit-\(durability.rawValue)" }
  var work: String { "one document per commit, synchronous \(durability.rawValue.uppercased())" }
  let unit = "commit"
  var operations: Int { workload.commits }

  var raw: Variant {
    Variant("raw SQLite C, encoded before") { [workload, durability] folder in
      { watch in
        let table = try RawTable(folder.freshFile("raw.db"), durability: durability)
        let insert = try table.prepareInsert()
        try watch.measure {
          for number in 0..<workload.commits { try insert(workload.stored, number) }
        }
        return try table.count()
      }
    }
  }

  var record: Variant? { variant("GRDB Codable record", PersonRecord.self) }
  var others: [Variant] { [variant(Comparison.handWritten, PersonRow.self)] }

  private func variant<Record: StoredPerson>(_ name: String, _: Record.Type) -> Variant {
    Variant(name) { [workload, durability] folder in
      { watch in
        let table = try RecordTable<Record>(folder.freshFile("record.db"), durability: durability)
        try watch.measure {
          for number in 0..<workload.commits {
            let record = Record(id: workload.keys[number], workload.people[number])
            try table.queue.write { db in try record.insert(db) }
          }
        }
        return try table.count()
      }
    }
  }
}
