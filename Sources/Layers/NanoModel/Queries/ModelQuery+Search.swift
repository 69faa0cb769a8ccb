// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery
package import NanoStoreCore

extension ModelCollection {
  /// Returns a full-text search over the properties marked with ``TextIndexed()``, ranked by
  /// relevance.
  ///
  /// ```swift
  /// @Model struct Recipe { @TextIndexed var title: String; @TextIndexed var steps: [String] = []; var year: Int }
  /// try recipes.search("gin tonic -sloe").where(\.year > 2000).limit(10).fetch()
  /// ```
  ///
  /// Any user input is a valid search text; docs/TEXT-SEARCH.md describes the syntax. A document
  /// that stores such a property under a former name is found once it is saved or upgraded.
  public func search(_ text: String) -> ModelQuery<M> { search(FullTextQuery(text)) }

  /// Returns a full-text search for a query, ranked by relevance.
  ///
  /// - Parameter index: The name of a text index; nil for the index of the model, or the only one of the collection.
  public func search(_ query: FullTextQuery, in index: String? = nil) -> ModelQuery<M> {
    let search = FullTextSearch(query, index: index, preferredIndex: M.textIndex?.name)
    return find(ModelCondition(.search(search))).changed { $0.ranking = FullTextRanking() }
  }
}

/// A result of a full-text search, with its rank and matches.
public struct ModelSearchResult<M: Model> {
  /// The value and the metadata of its document.
  public let stored: Stored<M>
  private let match: ModelSearchMatch<M>

  init(_ result: FullTextResult, _ collection: ModelCollection<M>) throws {
    match = ModelSearchMatch(result)
    stored = try collection.stored(result.document)
  }

  /// The value.
  public var value: M { stored.value }
  /// The relevance, comparable only to other results of the same search. Larger is better.
  public var rank: Double { match.rank }

  /// Returns the passage with the most matches, with markers around them; see
  /// ``FullTextResult/snippet(of:words:begin:end:ellipsis:)``.
  public func snippet(words: Int = 16, begin: String = "[", end: String = "]") -> String? {
    match.snippet(words: words, begin: begin, end: end)
  }

  /// Returns the strings of a property with markers around the matches.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored.
  public func highlights(
    of keyPath: any PartialKeyPath<M> & Sendable, begin: String = "[", end: String = "]"
  ) throws -> [String] { try match.highlights(of: keyPath, begin: begin, end: end) }
}

/// The rank and the matches of a full-text search result, by the properties of a model.
package struct ModelSearchMatch<M: Model>: Sendable {
  private let result: FullTextResult

  package init(_ result: FullTextResult) { self.result = result }

  package var rank: Double { result.rank }
  package func snippet(words: Int, begin: String, end: String) -> String? {
    result.snippet(words: words, begin: begin, end: end)
  }
  package func highlights(
    of keyPath: any PartialKeyPath<M> & Sendable, begin: String, end: String
  ) throws -> [String] {
    result.highlights(of: "\(try M.location(of: keyPath).path)", begin: begin, end: end)
  }
}

extension ModelSearchResult: Sendable where M: Sendable {}

extension ModelQuery {
  /// Returns the results of a full-text search in order, with ranks and snippets.
  ///
  /// - Throws: The errors of ``fetch()-()->[M]``; ``StoreError/Code/invalidArgument`` if the query
  ///   contains no search.
  public func results() throws -> [ModelSearchResult<M>] {
    try documentQuery().results().map { try ModelSearchResult($0, collection) }
  }
  /// The asynchronous form of ``results()``, which does not block the calling thread.
  public func results() async throws -> sending [ModelSearchResult<M>] {
    try await fromReader { try $0.results() }
  }
}
