// SPDX-License-Identifier: MIT

package import NanoEngine
package import NanoQuery

extension EngineDocumentReader where Self: EngineCatalogReader {
  /// Returns the query with the values of related documents in the conjuncts that the engine does not join, and in the
  /// sort order.
  ///
  /// - Parameter joins: Whether the engine decides a conjunct exactly, without the values.
  package func readingRelated(
    _ query: Query, unless joins: (Condition) -> Bool
  ) throws -> Query {
    var query = query
    let conjuncts = try query.condition.conjuncts.map { conjunct in
      guard conjunct.hasUnreadRelated, conjunct.searches || !joins(conjunct) else {
        return conjunct
      }
      return try readingRelated(conjunct)
    }
    query.condition = conjuncts.count == 1 ? conjuncts[0] : .all(conjuncts)
    var orderings: [Ordering] = []
    for ordering in query.orderings {
      let truth = try readingRelated(Condition.truth(ordering.expression))
      guard case .truth(let expression) = truth else { continue }
      orderings.append(Ordering(expression, descending: ordering.descending))
    }
    query.orderings = orderings
    return query
  }
}
