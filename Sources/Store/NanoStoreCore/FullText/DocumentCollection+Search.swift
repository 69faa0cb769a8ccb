// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery

extension DocumentCollection {
  /// The documents that what somebody wrote into a search field finds, the best fit first.
  ///
  /// ```swift
  /// try films.search("gin tonic").limit(10).fetch()
  /// try films.search("\"gin and ton\"* -sloe").where(Field("year") > 2000).sorted(by: "-year").fetch()
  /// for result in try films.search("gin").results() { print(result.rank, result.snippet() ?? "") }
  /// ```
  ///
  /// It is a query like those of ``find(_:)-(Condition)``, with the condition ``Condition/search(_:in:)-(String,_)``.
  /// Any text can be given; ``FullTextQuery/init(_:fields:)`` says what it means.
  ///
  /// - Parameter index: The name of the text index; nil for the only one of the collection.
  /// - Throws: When it is asked: ``StoreError/Code/invalidArgument`` if there is no such index, or several and
  ///   none is named.
  public func search(_ text: String, in index: String? = nil) -> DocumentQuery {
    search(FullTextQuery(text), in: index)
  }

  /// The documents that a query finds, the best fit first.
  public func search(_ query: FullTextQuery, in index: String? = nil) -> DocumentQuery {
    DocumentQuery(self, Query(.search(query, in: index), ranking: FullTextRanking()))
  }
}

extension DocumentQuery {
  /// How much a word counts in some fields of a search by text; 1 in the others. The best fit comes first
  /// again.
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
