// SPDX-License-Identifier: MIT

package import NanoEngine
package import NanoQuery

/// What an engine answers to some searches.
package struct FullTextAnswers {
  package struct Answer: Equatable {
    package var rows: [Int64]
    package var ranks: [Double]
  }
  package var answers: [Answer]

  package init(_ queries: [Query], _ reader: any EngineReader) throws {
    answers = try queries.map { query in
      var answer = Answer(rows: [], ranks: [])
      try reader.findRanked(query, in: "c") {
        answer.rows.append($0.rowID)
        answer.ranks.append($1)
        return true
      }
      return answer
    }
  }

  package func with(rowIDs: [Int64]) -> FullTextAnswers {
    var copy = self
    for index in answers.indices {
      copy.answers[index].rows = answers[index].rows.map { rowIDs[Int($0) - 1] }
    }
    return copy
  }

  /// Ranks are computed in another order of additions, so that they agree to a few digits less.
  package func difference(from other: FullTextAnswers, _ queries: [Query]) -> String? {
    for (index, query) in queries.enumerated() {
      let (expected, actual) = (answers[index], other.answers[index])
      let isSame =
        expected.rows == actual.rows
        && (!query.isRanked
          || zip(expected.ranks, actual.ranks).allSatisfy { abs($0 - $1) < 1e-9 })
      // Where ranks are the same but for their last digits, the order may be another one.
      if isSame || (query.isRanked && query.limit == nil && isClose(expected, actual)) { continue }
      return "\(query.condition.queryText) \(query): expected \(expected), got \(actual)"
    }
    return nil
  }

  private func isClose(_ a: Answer, _ b: Answer) -> Bool {
    let (a, b) = (
      Dictionary(uniqueKeysWithValues: zip(a.rows, a.ranks)),
      Dictionary(uniqueKeysWithValues: zip(b.rows, b.ranks))
    )
    return a.count == b.count
      && a.allSatisfy { row, rank in b[row].map { abs($0 - rank) < 1e-9 } ?? false }
  }
}
