// SPDX-License-Identifier: MIT

import NanoModel
public import NanoQuery

extension ObjectContext {
  /// Returns a full-text search over the stored objects of a class, ranked by relevance; see
  /// ``ModelCollection/search(_:in:)``.
  ///
  /// Unsaved changes are not searched, since ranks depend on the text index of the store.
  ///
  /// ```swift
  /// let query = FullTextQuery.field("title", FullTextQuery(bnrExpression: "[[gin*]]"))
  /// let songs = try context.search(Song.self, query).faults()
  /// ```
  ///
  /// - Parameter index: The name of a text index; nil for the index of the class, or the only one of the collection.
  public func search<Object: GraphObject>(
    _ type: Object.Type, _ query: FullTextQuery, in index: String? = nil
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).search(query, in: index)) }
}
