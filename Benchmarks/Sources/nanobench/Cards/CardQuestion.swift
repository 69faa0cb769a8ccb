// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// One query on all cards, with an index on the last name.
struct CardQuestion: Scenario {
  /// An implementation of the query with a collection.
  struct Way {
    let name: String
    let target: Double?
    let answer: (DocumentCollection) throws -> Int
    init(
      _ name: String, _ target: Double?, _ answer: @escaping (DocumentCollection) throws -> Int
    ) {
      self.name = name
      self.target = target
      self.answer = answer
    }
  }
  enum RawAnswer {
    /// The number of rows, all of which are read.
    case rows
    /// The first column of the only row.
    case cents
  }

  let set: CardSet
  let word: String
  let work: String
  let original: Double?
  /// Takes the last name as its parameter, if it has one.
  let sql: String
  let answer: RawAnswer
  let ways: [Way]

  var name: String { "\(self.set.identity.prefix)-\(word)" }
  var unit: String { "query" }
  var operations: Int { 1 }

  var raw: Variant {
    Variant("raw SQLite C") { folder in
      let connection = try set.rawFilled(folder)
      let select = try connection.prepare(sql)
      return { watch in
        try watch.measure {
          try select.withText(CardSet.soughtName) {
            defer { select.reset() }
            switch answer {
            case .rows: return try set.identity.countRows(select)
            case .cents: return try select.step() ? select.double(0).cents : 0
            }
          }
        }
      }
    }
  }

  var ours: [Variant] {
    ways.map { way in
      Variant(way.name, target: way.target) { folder in
        let cards = try set.oursFilled(folder)
        return { watch in try watch.measure { try way.answer(cards) } }
      }
    }
  }
}

extension CardIdentity {
  /// Reads each column of each row in place, and returns the number of rows.
  fileprivate func countRows(_ statement: RawStatement) throws -> Int {
    if self == .key { return try RawTable.countRows(statement) }
    var rows = 0
    while try statement.step() {
      _ = statement.integer(0)
      _ = statement.text(1)
      rows += 1
    }
    return rows
  }
}
