// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// Gets cards by row ID in random order, each in a separate read. The result is the number found.
struct CardGetScenario: Scenario {
  let set: CardSet
  let lookups: [Int]

  var name: String { "\(self.set.identity.prefix)-get" }
  var work: String { "\(self.set.identity.library): get by row ID" }
  let unit = "get"
  var operations: Int { lookups.count }
  var original: Double? { 7 }

  var raw: Variant {
    Variant("raw SQLite C, step only") { folder in
      let connection = try set.rawFilled(folder)
      let select = try connection.prepare("SELECT body FROM d WHERE id=?1")
      return { watch in
        try watch.measure {
          var found = 0
          for number in lookups {
            select.bind(number + 1, at: 1)
            if try select.step(), !select.text(0).isEmpty { found += 1 }
            select.reset()
          }
          return found
        }
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("lazy document", target: 1.5) { folder in
        let cards = try set.oursFilled(folder)
        return { watch in
          try watch.measure {
            var found = 0
            for number in lookups where try cards.get(rowID: Int64(number + 1)) != nil {
              found += 1
            }
            return found
          }
        }
      }
    ]
  }
}
