// SPDX-License-Identifier: MIT

import BenchmarkKit
import GRDB
import NanoStore

/// Adds one to a number in every document, with one statement in SQL. The result is the number of documents.
struct UpdateScenario: Scenario {
  let workload: Workload

  let name = "update"
  let work = "add 1 to a field of all documents"
  let unit = "document"
  var operations: Int { workload.documents }

  private static func update(_ table: String, _ body: String, _ path: String) -> String {
    "UPDATE \(table) SET \(body)=json_set(\(body),'\(path)',json_extract(\(body),'\(path)')+1)"
  }

  var raw: Variant {
    Variant("raw SQLite C, json_set") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      return { watch in
        try watch.measure {
          try table.connection.execute(Self.update("d", "body", #"$."Age""#))
          try table.checkpoint()
        }
        return try table.count()
      }
    }
  }

  var record: Variant? {
    Variant("GRDB, a column") { [workload] folder in
      let table = try RecordTable<PersonRecord>.filled(folder, workload)
      return { watch in
        try watch.measure {
          let count = try table.queue.write { db in
            try PersonRecord.updateAll(db, Column("age").set(to: Column("age") + 1))
          }
          try table.checkpoint()
          return count
        }
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("increment", target: 1.5) { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in
          let count = try watch.measure {
            let count = try people.collection.find().update(.increment("Age"))
            // Closing the store checkpoints.
            try people.store.close()
            return count
          }
          try people.store.reopen()
          return count
        }
      }
    ]
  }
}
