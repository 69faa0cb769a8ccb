// SPDX-License-Identifier: MIT

import NanoModel
import NanoStoreCore

/// A result of a full-text search, with its rank and matches.
public struct ObjectSearchResult<Object: GraphObject> {
  /// The object.
  public let object: Object
  private let match: ModelSearchMatch<Object>

  init(_ object: Object, _ match: ModelSearchMatch<Object>) {
    self.object = object
    self.match = match
  }

  /// The relevance, comparable only to other results of the same search. Larger is better.
  public var rank: Double { match.rank }

  /// Returns the passage of the stored document with the most matches, with markers around them;
  /// see ``FullTextResult/snippet(of:words:begin:end:ellipsis:)``.
  public func snippet(words: Int = 16, begin: String = "[", end: String = "]") -> String? {
    match.snippet(words: words, begin: begin, end: end)
  }

  /// Returns the strings of a property with markers around the matches.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored.
  public func highlights(
    of keyPath: any PartialKeyPath<Object> & Sendable, begin: String = "[", end: String = "]"
  ) throws -> [String] { try match.highlights(of: keyPath, begin: begin, end: end) }
}

extension ObjectQuery {
  /// Returns the results of a full-text search in order, with ranks and snippets. Unsaved changes
  /// are not searched, since ranks depend on the text index of the store.
  ///
  /// ```swift
  /// for result in try context.search(Song.self, "gin").results() {
  ///   print(result.object.title, result.rank, result.snippet() ?? "")
  /// }
  /// ```
  ///
  /// - Throws: The errors of ``fetch()``; ``StoreError/Code/invalidArgument`` if the query contains
  ///   no search.
  public func results() throws -> [ObjectSearchResult<Object>] {
    try models.documentQuery().results().compactMap { try result($0) }
  }

  /// The asynchronous form of ``results()``, which does not block the calling thread.
  public func results(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [ObjectSearchResult<Object>] {
    let models = models
    let found = try await context.read(context.table(Object.self)) {
      try models.documentQuery().results()
    }
    return try found.compactMap { try result($0) }
  }

  private func result(_ found: FullTextResult) throws -> ObjectSearchResult<Object>? {
    try object(found.document).map { ObjectSearchResult($0, ModelSearchMatch(found)) }
  }
}
