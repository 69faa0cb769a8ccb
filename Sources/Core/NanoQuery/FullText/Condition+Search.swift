// SPDX-License-Identifier: MIT

package import NanoDocument

extension Condition {
  /// What people write into a search field; see ``FullTextQuery/init(_:fields:)``.
  ///
  /// ```swift
  /// films.find(Field("year") > 2000 && .search("gin tonic"))
  /// ```
  ///
  /// - Parameter index: The name of the text index; nil for the only one of the collection.
  public static func search(_ text: String, in index: String? = nil) -> Condition {
    .search(FullTextSearch(FullTextQuery(text), index: index))
  }
  public static func search(_ query: FullTextQuery, in index: String? = nil) -> Condition {
    .search(FullTextSearch(query, index: index))
  }

  /// Whether a search by text stands where it can be answered.
  package var searches: Bool {
    switch self {
    case .search: true
    case .all(let parts), .any(let parts): parts.contains(where: \.searches)
    case .not(let part): part.searches
    default: false
    }
  }

  /// The search that decides on ranks: the first of those that all must be found by.
  package var rankingSearch: FullTextSearch? {
    switch self {
    case .search(let search): search
    case .all(let parts): parts.lazy.compactMap(\.rankingSearch).first
    default: nil
    }
  }

  /// The condition with the fields of the text indexes that its searches name.
  ///
  /// - Throws: What the closure throws for a search whose index is unknown.
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

  /// Throws if a search is none, or stands where a document is not asked as a whole.
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
        .invalidArgument, "A search by text cannot stand inside of an element or a leaf")
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
  /// - Throws: ``StoreError/Code/invalidArgument`` for a search whose fields are not known.
  package func matcher() throws(StoreError) -> FullTextMatcher {
    guard let scope else {
      throw StoreError(
        .invalidArgument, "The fields of a search by text are not known",
        index.map { [.index: $0] } ?? [:])
    }
    return FullTextMatcher(query, in: scope)
  }
}
