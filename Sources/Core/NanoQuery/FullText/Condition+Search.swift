// SPDX-License-Identifier: MIT

package import NanoDocument

extension Condition {
  /// Returns a full-text condition for user-entered text; see ``FullTextQuery/init(_:fields:)``.
  ///
  /// ```swift
  /// films.find(Field("year") > 2000 && .search("gin tonic"))
  /// ```
  ///
  /// - Parameter index: The name of the full-text index, or `nil` if the collection has only one.
  public static func search(_ text: String, in index: String? = nil) -> Condition {
    .search(FullTextSearch(FullTextQuery(text), index: index))
  }
  /// Returns a full-text condition for a query.
  ///
  /// - Parameter index: The name of the full-text index, or `nil` if the collection has only one.
  public static func search(_ query: FullTextQuery, in index: String? = nil) -> Condition {
    .search(FullTextSearch(query, index: index))
  }

  /// Whether the condition contains a full-text search where one is allowed.
  package var searches: Bool {
    switch self {
    case .search: true
    case .all(let parts), .any(let parts): parts.contains(where: \.searches)
    case .not(let part): part.searches
    default: false
    }
  }

  /// The search that determines ranks: the first that every result must match.
  package var rankingSearch: FullTextSearch? {
    switch self {
    case .search(let search): search
    case .all(let parts): parts.lazy.compactMap(\.rankingSearch).first
    default: nil
    }
  }

  /// Returns the condition with the fields of the full-text indexes that its searches name.
  ///
  /// - Throws: The closure's error, for example for an unknown index;
  ///   ``StoreError/Code/invalidArgument`` for a search that is not valid for its index.
  package func resolvingSearches(
    _ scope: (FullTextSearch) throws(StoreError) -> FullTextScope
  ) throws(StoreError) -> Condition {
    switch self {
    case .search(var search):
      let found = try scope(search)
      try search.query.validate(in: found)
      search.scope = found
      return .search(search)
    case .all(let parts): return .all(try Self.resolving(parts, scope))
    case .any(let parts): return .any(try Self.resolving(parts, scope))
    case .not(let part): return .not(try part.resolvingSearches(scope))
    default: return self
    }
  }

  private static func resolving(
    _ parts: [Condition], _ scope: (FullTextSearch) throws(StoreError) -> FullTextScope
  ) throws(StoreError) -> [Condition] {
    var resolved: [Condition] = []
    for part in parts { resolved.append(try part.resolvingSearches(scope)) }
    return resolved
  }

  /// Throws if a search is not valid, or is inside an element or leaf condition.
  func validateSearches() throws(StoreError) {
    switch self {
    case .search(let search):
      try search.scope?.validate()
      try search.query.validate(in: search.scope)
    case .all(let parts), .any(let parts): for part in parts { try part.validateSearches() }
    case .not(let part): try part.validateSearches()
    case .element(_, let part), .leaf(let part):
      guard part.searchesAnywhere else { return }
      throw StoreError(
        .invalidArgument, "A full-text search is not allowed inside an element or leaf condition")
    default: return
    }
  }

  private var searchesAnywhere: Bool {
    switch self {
    case .element(_, let part), .leaf(let part), .not(let part): part.searchesAnywhere
    case .all(let parts), .any(let parts): parts.contains(where: \.searchesAnywhere)
    default: searches
    }
  }
}

extension FullTextSearch {
  /// Returns a matcher for the search.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the search has not been resolved to the fields of
  ///   an index.
  package func matcher() throws(StoreError) -> FullTextMatcher {
    guard let scope else {
      throw StoreError(
        .invalidArgument,
        "A full-text search is only possible in a collection with a full-text index",
        index.map { [.index: $0] } ?? [:])
    }
    return FullTextMatcher(query, in: scope)
  }
}
