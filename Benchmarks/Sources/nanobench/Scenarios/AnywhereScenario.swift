// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// Counts documents with a value in any field. The result is the count.
struct AnywhereScenario: Scenario {
  let workload: Workload

  let name = "anywhere"
  let work = "count by a value in any field"
  let unit = "document"
  var operations: Int { workload.documents }

  private static func bodies(_ workload: Workload) -> [[UInt8]] {
    workload.people.map { Array(Card(person: $0).storedJSON.utf8) }
  }

  private func raw(_ name: String, _ condition: String) -> Variant {
    Variant(name) { [workload] folder in
      let table = try RawTable(folder.freshFile("raw.db"))
      try table.insertAll(Self.bodies(workload), keys: workload.stored)
      try table.checkpoint()
      let select = try table.connection.prepare("SELECT count(*) FROM d WHERE \(condition)")
      return { watch in
        try watch.measure {
          try select.withText(workload.soughtName) {
            defer { select.reset() }
            return try select.step() ? select.integer(0) : 0
          }
        }
      }
    }
  }

  var raw: Variant {
    raw("raw SQLite C, json_tree", "EXISTS (SELECT 1 FROM json_tree(d.body) WHERE atom=?1)")
  }

  var others: [Variant] {
    [
      raw(
        "raw SQLite C, json_tree where the text occurs",
        "instr(body,?1) AND EXISTS (SELECT 1 FROM json_tree(d.body) WHERE atom=?1)")
    ]
  }

  var ours: [Variant] {
    [
      variant("every document", .declared, target: 0.25),
      variant("policy everything", .everything, target: 0.02),
    ]
  }

  private func variant(_ name: String, _ policy: IndexingPolicy, target: Double) -> Variant {
    Variant(name, target: target) { [workload] folder in
      let store = try Store.untuned(folder.freshFile("ours.db"))
      let cards = store["cards"]
      try cards.setIndexing(policy)
      try cards.insert(workload.people.map { Card(person: $0).object })
      let sought = Condition.leaf(Field(.element) == workload.soughtName)
      return { watch in try watch.measure { try cards.find(sought).count() } }
    }
  }
}
