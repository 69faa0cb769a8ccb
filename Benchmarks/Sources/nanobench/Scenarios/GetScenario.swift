// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// Gets documents by key in random order, each in a separate read. Raw SQLite returns a copy of the body or
/// of the texts of all columns, the others a decoded value. The result is the number found.
struct GetScenario: Scenario {
  let workload: Workload

  let name = "get"
  let work = "get by key"
  let unit = "get"
  var operations: Int { workload.lookups.count }

  var raw: Variant {
    Variant("raw SQLite C, copied body") { [workload] folder in
      let table = try RawTable.filled(folder, workload)
      let select = try table.connection.prepare("SELECT body FROM d WHERE key=?1")
      return { watch in
        try watch.measure {
          var found = 0
          for number in workload.lookups {
            guard let body = try copyBody(select, key: workload.stored.key(number)) else {
              continue
            }
            body.deallocate()
            found += 1
          }
          return found
        }
      }
    }
  }

  var record: Variant? { variant("GRDB Codable record", PersonRecord.self) }

  var others: [Variant] {
    [
      Variant(Comparison.realColumns) { [workload] folder in
        let table = try ColumnTable.filled(folder, workload)
        let select = try table.connection.prepare("SELECT \(ColumnTable.all) FROM p WHERE key=?1")
        return { watch in
          try watch.measure {
            var found = 0
            for number in workload.lookups {
              select.bind(blob: workload.stored.key(number), at: 1)
              if try select.step() {
                ColumnTable.copyTexts(select).deallocate()
                found += 1
              }
              select.reset()
            }
            return found
          }
        }
      },
      variant(Comparison.handWritten, PersonRow.self),
    ]
  }

  private func variant<Record: StoredPerson>(_ name: String, _: Record.Type) -> Variant {
    Variant(name) { [workload] folder in
      let table = try RecordTable<Record>.filled(folder, workload)
      return { watch in
        try watch.measure {
          var found = 0
          for number in workload.lookups {
            let key = workload.keys[number]
            if try table.queue.read({ db in try Record.get(db, key) }) != nil { found += 1 }
          }
          return found
        }
      }
    }
  }
}

// Never inlined, because the compiler may omit an allocation whose release it sees.
@inline(never)
private func copyBody(
  _ select: RawStatement, key: UnsafeRawBufferPointer
) throws -> UnsafeMutableRawBufferPointer? {
  select.bind(blob: key, at: 1)
  defer { select.reset() }
  guard try select.step() else { return nil }
  let body = select.text(0)
  let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 1)
  copy.copyMemory(from: body)
  return copy
}
