// SPDX-License-Identifier: MIT

import NanoModel
public import NanoQuery

extension ObjectContext {
  /// The objects of a class whose texts are found by a query of one's own, best first; see
  /// ``ModelCollection/search(_:in:)``.
  ///
  /// ```swift
  /// let query = FullTextQuery.field("title", FullTextQuery(bnrExpression: "[[gin*]]"))
  /// let songs = try context.search(Song.self, query).faults()
  /// ```
  ///
  /// - Parameter index: The text index to ask; the one that serves the query if not given.
  public func search<Object: GraphObject>(
    _ type: Object.Type, _ query: FullTextQuery, in index: String? = nil
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).search(query, in: index)) }
}
