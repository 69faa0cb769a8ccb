// SPDX-License-Identifier: MIT

package import NanoEngine
package import NanoQuery

/// The results of an engine for a list of searches.
package struct FullTextResults {
  package struct Result: Equatable {
    package var rows: [Int64]
    package var ranks: [Double]
  }
  package var results: [Result]

  package init(_ queries: [Query], _ reader: any EngineReader) throws {
    results = try queries.map { query in
      var result = Result(rows: [], ranks: [])
      try reader.findRanked(query, in: "c") {
        result.rows.append($0.rowID)
        result.ranks.append($1)
        return true
      }
      return result
    }
  }

  package func with(rowIDs: [Int64]) -> FullTextResults {
    var copy = self
    for index in results.indices {
      copy.results[index].rows = results[index].rows.map { rowIDs[Int($0) - 1] }
    }
    return copy
  }

  /// Returns a description of the first difference, or nil if there is none.
  ///
  /// Engines add ranks in different orders, so ranks are compared with a tolerance.
  package func difference(from other: FullTextResults, _ queries: [Query]) -> String? {
    for (index, query) in queries.enumerated() {
      let (expected, actual) = (results[index], other.results[index])
      let isSame =
        expected.rows == actual.rows
        && (query.ranking == nil
          || zip(expected.ranks, actual.ranks).allSatisfy { abs($0 - $1) < 1e-9 })
      // Ranks that differ only in their last digits may change the order.
      if isSame || (query.isRanked && query.limit == nil && isClose(expected, actual)) { continue }
      return "\(query.condition.queryText) \(query): expected \(expected), got \(actual)"
    }
    return nil
  }

  private func isClose(_ a: Result, _ b: Result) -> Bool {
    let (a, b) = (
      Dictionary(uniqueKeysWithValues: zip(a.rows, a.ranks)),
      Dictionary(uniqueKeysWithValues: zip(b.rows, b.ranks))
    )
    return a.count == b.count
      && a.allSatisfy { row, rank in b[row].map { abs($0 - rank) < 1e-9 } ?? false }
  }
}
