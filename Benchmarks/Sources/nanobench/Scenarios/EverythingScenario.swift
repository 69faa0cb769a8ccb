// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// Inserts all documents into a new file in one transaction, with and without a wildcard index. The result is the
/// number inserted.
struct EverythingScenario: Scenario {
  let workload: Workload

  let name = "everything"
  let work = "insert in one transaction, six fields and an array"
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant {
    Variant("raw SQLite C, no index") { [workload] folder in
      let bodies = workload.people.map { Array(Card(person: $0).storedJSON.utf8) }
      return { watch in
        let table = try RawTable(folder.freshFile("raw.db"))
        try watch.measure {
          try table.insertAll(bodies, keys: workload.stored)
          try table.checkpoint()
        }
        return try table.count()
      }
    }
  }

  /// Maintains the same index as the indexing policy, with handwritten SQL and without batches.
  var others: [Variant] {
    [
      Variant("raw SQLite C, a row for each leaf") { [workload] folder in
        let cards = workload.people.map { Card(person: $0) }
        let bodies = cards.map { Array($0.storedJSON.utf8) }
        let leaves = cards.map(\.leaves)
        return { watch in
          let table = try RawTable(folder.freshFile("leaves.db"))
          try table.connection.execute(
            "CREATE TABLE e(a INTEGER, v, d INTEGER, PRIMARY KEY(a, v, d)) WITHOUT ROWID")
          let insert = try table.connection.prepare("INSERT OR IGNORE INTO e VALUES(?1,?2,?3)")
          try watch.measure {
            try table.insertAll(bodies, keys: workload.stored) { number in
              for leaf in leaves[number] {
                insert.bind(leaf.attribute, at: 1)
                insert.bind(number + 1, at: 3)
                try leaf.text.withUnsafeBytes { text in
                  if let number = leaf.number {
                    insert.bind(number, at: 2)
                  } else {
                    insert.bind(text: text, at: 2)
                  }
                  try insert.run()
                }
              }
            }
            try table.checkpoint()
          }
          return try table.count()
        }
      }
    ]
  }

  var ours: [Variant] {
    [variant("no index", .declared), variant("policy everything", .everything)]
  }

  private func variant(_ name: String, _ policy: IndexingPolicy) -> Variant {
    Variant(name, target: policy == .everything ? 8 : nil) { [workload] folder in
      let objects = workload.people.map { Card(person: $0).object }
      return { watch in
        let store = try Store.untuned(folder.freshFile("ours.db"))
        let cards = store["cards"]
        try cards.setIndexing(policy)
        try watch.measure {
          try cards.insert(objects)
          // Closing the store checkpoints.
          try store.close()
        }
        return objects.count
      }
    }
  }
}
