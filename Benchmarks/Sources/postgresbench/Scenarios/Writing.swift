// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

extension Contest {
  /// Writes, with three field indexes.
  func writing(_ members: MemberSet) -> [Comparison] {
    let changed = Array(members.documents.prefix(members.count / 5))
    let single = Array(members.documents.prefix(min(members.count / 10, 300)))
    return [
      Comparison(
        name: "insert", work: "insert, 10,000 in a call", unit: "document",
        operations: members.count, target: 0.8, contest: self
      ) { side in
        let batches = members.batches(members.documents)
        return { watch in
          let collection = try side.fresh()
          return try watch.measure {
            try batches.reduce(0) { try $0 + collection.insert($1).count }
          }
        }
      },
      Comparison(
        name: "save", work: "save over existing ones, 10,000 in a call", unit: "document",
        operations: changed.count, contest: self
      ) { side in
        let collection = try side.rewritten()
        let batches = members.batches(changed)
        return { watch in
          try watch.measure {
            try batches.reduce(0) { try $0 + collection.save($1).count }
          }
        }
      },
      Comparison(
        name: "commit", work: "save one, on the disk", unit: "document",
        operations: single.count, contest: self
      ) { side in
        let collection = side.durable["single"]
        try collection.drop()
        try Side.makeFieldIndexes(collection)
        try collection.insert(members.documents.prefix(1_000).map { $0 })
        return { watch in
          try watch.measure {
            for document in single { try collection.save(document) }
            return single.count
          }
        }
      },
    ]
  }
}
