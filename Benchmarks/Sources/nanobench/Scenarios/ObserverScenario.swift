// SPDX-License-Identifier: MIT

import GRDB

/// Some documents, each in a transaction of its own, while a hundred observers wait for others. The
/// answer is how many arrived.
///
/// The baseline is not raw SQLite, which has no observers, but our own writer without any: the ratio
/// is what observers cost the writer. So processor time is that of the thread that writes; what is
/// done for observers elsewhere shows on the wall, if the machine has no processor to spare. GRDB
/// fetches for observers on the thread that writes, and its processor time is that of all threads.
struct ObserverScenario: Scenario {
  let workload: Workload

  let name = "observers"
  let work = "one document per commit beside 100 idle observers, against ours without"
  let unit = "commit"
  var operations: Int { workload.commits }
  /// Half of them on the collection that is written to.
  static let observers = 100

  /// An observation of GRDB's fetches again whenever its table changes. Only those on this table.
  var record: Variant {
    Variant("GRDB Codable record, as many observations") { [workload, operations] folder in
      { watch in
        let table = try RecordTable(folder.freshFile("record.db"))
        let observations = (0..<Self.observers / 2).map { (number: Int) -> AnyDatabaseCancellable in
          let idle = PersonRecord.filter(Column("age") == -1 - number)
          let observation = ValueObservation.tracking { db in try idle.fetchCount(db) }
          return observation.start(
            in: table.queue, scheduling: .async(onQueue: .global()), onError: { _ in },
            onChange: { _ in })
        }
        try watch.measure {
          for number in 0..<operations {
            let record = PersonRecord(
              id: workload.keys[number], workload.people[number % workload.people.count])
            try table.queue.write { db in try record.insert(db) }
          }
        }
        for observation in observations { observation.cancel() }
        return try table.count()
      }
    }
  }
}
