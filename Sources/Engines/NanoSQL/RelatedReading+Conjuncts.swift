// SPDX-License-Identifier: MIT

package import NanoEngine
package import NanoQuery

extension EngineDocumentReader where Self: EngineCatalogReader {
  /// Returns the query with the values of related documents in the conjuncts that the engine does not join, and in the
  /// sort order.
  ///
  /// - Parameter joins: Whether the engine decides the conjuncts of a condition exactly, without the values.
  package func readingRelated(
    _ query: Query, unless joins: (Condition) -> Bool
  ) throws -> Query {
    var query = query
    var joined: [Condition] = []
    let conjuncts = try query.condition.conjuncts.map { conjunct in
      guard conjunct.hasUnreadRelated else { return conjunct }
      // With those before it, since they share the limits of the statement.
      guard !conjunct.searches, joins(.all(joined + [conjunct])) else {
        return try readingRelated(conjunct)
      }
      joined.append(conjunct)
      return conjunct
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
