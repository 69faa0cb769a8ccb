// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// Creates an index on a field of stored cards. The result is the number of cards.
struct CardIndexScenario: Scenario {
  let set: CardSet

  var name: String { "\(self.set.identity.prefix)-index" }
  var work: String { "\(self.set.identity.library): create an index on existing documents" }
  let unit = "document"
  var operations: Int { self.set.cards.count }
  /// The original added a new column and filled it document by document.
  var original: Double? { 400 }

  var raw: Variant {
    Variant("raw SQLite C, CREATE INDEX") { folder in
      let connection = try set.rawFilled(folder, isIndexed: false)
      return { watch in
        try connection.execute("DROP INDEX IF EXISTS d_lastName")
        try watch.measure {
          try connection.execute(CardSet.lastNameIndex)
        }
        return set.cards.count
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("createIndex", target: 1) { folder in
        let cards = try set.oursFilled(folder, isIndexed: false)
        return { watch in
          _ = try cards.dropIndex("LastName")
          try watch.measure { _ = try cards.createIndex("LastName") }
          return set.cards.count
        }
      }
    ]
  }
}
