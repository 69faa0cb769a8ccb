// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery
package import NanoStoreCore

extension ModelCollection {
  /// The values that what somebody wrote into a search field finds in the properties marked with
  /// ``TextIndexed()``, the best fit first.
  ///
  /// ```swift
  /// @Model struct Recipe { @TextIndexed var title: String; @TextIndexed var steps: [String] = []; var year: Int }
  /// try recipes.search("gin tonic -sloe").where(\.year > 2000).limit(10).fetch()
  /// ```
  ///
  /// Any text can be given; docs/TEXT-SEARCH.md says what it means. A document that has such a property under
  /// a former name is found when it was saved or upgraded.
  public func search(_ text: String) -> ModelQuery<M> { search(FullTextQuery(text)) }

  /// The values that a query finds, the best fit first.
  ///
  /// - Parameter index: The name of a text index; the one of the model if nil.
  public func search(_ query: FullTextQuery, in index: String? = nil) -> ModelQuery<M> {
    find(ModelCondition(.search(query, in: index))).changed { $0.ranking = FullTextRanking() }
  }
}

/// A value that a search by text found, how well it fits, and where.
public struct ModelSearchResult<M: Model> {
  /// The value, and what the store knows of it.
  public let stored: Stored<M>
  private let match: ModelSearchMatch<M>

  init(_ result: FullTextResult, _ collection: ModelCollection<M>) throws {
    match = ModelSearchMatch(result)
    stored = try collection.stored(result.document)
  }

  /// The value.
  public var value: M { stored.value }
  /// How well it fits: the larger, the better, beside the other results of the same search.
  public var rank: Double { match.rank }

  /// The part of a text in which most was found, with markers; see ``FullTextResult/snippet(of:words:begin:end:ellipsis:)``.
  public func snippet(words: Int = 16, begin: String = "[", end: String = "]") -> String? {
    match.snippet(words: words, begin: begin, end: end)
  }

  /// The texts of a property with markers around what was found, one for each text that it has.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored.
  public func highlights(
    of keyPath: any PartialKeyPath<M> & Sendable, begin: String = "[", end: String = "]"
  ) throws -> [String] { try match.highlights(of: keyPath, begin: begin, end: end) }
}

/// How well a document matches a search by text, and where, by the properties of a model.
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
    result.highlights(of: "\(try M.place(of: keyPath).path)", begin: begin, end: end)
  }
}

extension ModelSearchResult: Sendable where M: Sendable {}

extension ModelQuery {
  /// What a search by text finds, in order, with ranks and snippets.
  ///
  /// - Throws: As ``fetch()-()->[M]``; ``StoreError/Code/invalidArgument`` if there is no search in the query.
  public func results() throws -> [ModelSearchResult<M>] {
    try documentQuery().results().map { try ModelSearchResult($0, collection) }
  }
  public func results() async throws -> sending [ModelSearchResult<M>] {
    try await fromReader { try $0.results() }
  }
}
