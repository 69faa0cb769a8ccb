// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// Inserts all cards into a new file in one transaction, with an index on the last name. The result is the number
/// inserted.
struct CardInsertScenario: Scenario {
  let set: CardSet
  let original: Double?

  var name: String { "\(self.set.identity.prefix)-insert" }
  var work: String { "\(self.set.identity.library): insert in one transaction, one index" }
  let unit = "document"
  var operations: Int { self.set.cards.count }

  var raw: Variant {
    Variant("raw SQLite C") { folder in
      { watch in
        let (_, fill) = try set.rawTable(folder)
        try watch.measure { try fill() }
        return set.cards.count
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("dynamic objects", target: 1.5) { folder in
        let objects = set.cards.map(\.object)
        return { watch in
          let cards = try set.ours(folder)
          try watch.measure {
            try cards.insert(objects)
            // Closing the store checkpoints.
            try cards.store.close()
          }
          return objects.count
        }
      }
    ]
  }
}
