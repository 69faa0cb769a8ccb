// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery

extension DocumentCollection {
  /// Returns a full-text query for user input, sorted by rank.
  ///
  /// ```swift
  /// try films.search("gin tonic").limit(10).fetch()
  /// try films.search("\"gin and ton\"* -sloe").where(Field("year") > 2000).sorted(by: "-year").fetch()
  /// for result in try films.search("gin").results() { print(result.rank, result.snippet() ?? "") }
  /// ```
  ///
  /// The result is a query like those of ``find(_:)-(Condition)``, with the condition
  /// ``Condition/search(_:in:)-(String,_)``. Any text is valid; ``FullTextQuery/init(_:fields:)``
  /// describes its syntax.
  ///
  /// - Parameters:
  ///   - text: The text to search for.
  ///   - index: The name of the full-text index; nil for the only one of the collection.
  /// - Throws: On execution, ``StoreError/Code/invalidArgument`` if there is no such index, or if
  ///   there are several and none is named.
  public func search(_ text: String, in index: String? = nil) -> DocumentQuery {
    search(FullTextQuery(text), in: index)
  }

  /// Returns a query for the documents that match a full-text query, sorted by rank.
  public func search(_ query: FullTextQuery, in index: String? = nil) -> DocumentQuery {
    DocumentQuery(self, Query(.search(query, in: index), ranking: FullTextRanking()))
  }
}

extension DocumentQuery {
  /// Sorts the results of a full-text search by rank, with a weight for each field. The default
  /// weight is 1.
  ///
  /// ```swift
  /// try films.search("gin").ranked(weights: ["title": 10]).fetch()
  /// ```
  public func ranked(weights: [String: Double] = [:]) -> DocumentQuery {
    var copy = self
    let pairs = weights.sorted { $0.key.isBefore($1.key) }.map { (FieldPath($0.key), $0.value) }
    copy.query.ranking = FullTextRanking(weights: Dictionary(pairs) { first, _ in first })
    copy.query.orderings = []
    return copy
  }
}
