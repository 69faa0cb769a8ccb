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
      let hasRanks = query.ranking == nil || Self.areClose(expected.ranks, actual.ranks)
      let hasRows =
        query.isRanked
        ? Self.areClose(expected, actual, isPage: query.limit != nil || query.offset > 0)
        : expected.rows == actual.rows
      if hasRanks, hasRows { continue }
      return "\(query.condition.queryText) \(query): expected \(expected), got \(actual)"
    }
    return nil
  }

  /// Returns whether two results have the same rows with the same ranks, in any order of rows with close ranks.
  ///
  /// - Parameter isPage: Whether the page may begin or end with any of several rows with close ranks.
  private static func areClose(_ a: Result, _ b: Result, isPage: Bool) -> Bool {
    Set(b.rows).count == b.rows.count && areClose(a.ranks, b.ranks)
      && contains(a, b, isPage: isPage) && contains(b, a, isPage: isPage)
  }

  private static func contains(_ a: Result, _ b: Result, isPage: Bool) -> Bool {
    let ranks = Dictionary(zip(a.rows, a.ranks)) { first, _ in first }
    let ends = isPage ? [a.ranks.first, a.ranks.last].compactMap(\.self) : []
    return zip(b.rows, b.ranks).allSatisfy { row, rank in
      if let own = ranks[row] { return areClose(own, rank) }
      return ends.contains { areClose($0, rank) }
    }
  }

  private static func areClose(_ a: [Double], _ b: [Double]) -> Bool {
    a.elementsEqual(b) { areClose($0, $1) }
  }

  private static func areClose(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 1e-9 }
}
