// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStoreModels

/// Inserts documents into a file that has all documents, each in a separate transaction. The result is the number
/// inserted.
struct GrowthCommitScenario: Scenario {
  let workload: Workload

  let name = "commit"
  let work = "one document per commit"
  let unit = "commit"
  var operations: Int { Self.commits }

  /// The same for every size, so that the log is checkpointed as often.
  private static let commits = 2_000

  var raw: Variant {
    Variant("raw SQLite C, encoded before") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      let insert = try table.connection.prepare("INSERT INTO d(key,body) VALUES(?1,?2)")
      var next = workload.documents
      return { watch in
        let before = try table.count()
        try watch.measure {
          for number in next..<next + Self.commits {
            try withUnsafeBytes(of: UUID(version7: number).uuid) { key in
              insert.bind(blob: key, at: 1)
              insert.bind(text: workload.stored.body(number), at: 2)
              try insert.run()
            }
          }
        }
        next += Self.commits
        return try table.count() - before
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("models", target: 1.25) { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in
          let before = try people.collection.count()
          try watch.measure {
            for number in 0..<Self.commits {
              try people.models.insert(workload.people[number % workload.documents])
            }
          }
          return try people.collection.count() - before
        }
      }
    ]
  }
}
