// SPDX-License-Identifier: MIT

import NanoModel
import NanoStoreCore

/// An object that a search by text found, how well it matches, and where.
public struct ObjectSearchResult<Object: GraphObject> {
  /// The object.
  public let object: Object
  private let match: ModelSearchMatch<Object>

  init(_ object: Object, _ match: ModelSearchMatch<Object>) {
    self.object = object
    self.match = match
  }

  /// How well it matches: the larger, the better, compared with other results of the same search.
  public var rank: Double { match.rank }

  /// The part of a text in which most was found, with markers; see
  /// ``FullTextResult/snippet(of:words:begin:end:ellipsis:)``. It is taken from what is stored.
  public func snippet(words: Int = 16, begin: String = "[", end: String = "]") -> String? {
    match.snippet(words: words, begin: begin, end: end)
  }

  /// The texts of a property with markers around what was found, one for each text that it has.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored.
  public func highlights(
    of keyPath: any PartialKeyPath<Object> & Sendable, begin: String = "[", end: String = "]"
  ) throws -> [String] { try match.highlights(of: keyPath, begin: begin, end: end) }
}

extension ObjectQuery {
  /// What a search by text finds, in order, with ranks and snippets.
  ///
  /// ```swift
  /// for result in try context.search(Song.self, "gin").results() {
  ///   print(result.object.title, result.rank, result.snippet() ?? "")
  /// }
  /// ```
  ///
  /// - Throws: As ``fetch()``; ``StoreError/Code/invalidArgument`` if there is no search in the query.
  public func results() throws -> [ObjectSearchResult<Object>] {
    try models.documentQuery().results().compactMap { try result($0) }
  }

  public func results(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [ObjectSearchResult<Object>] {
    let models = models
    let found = try await models.collection.documents.onReader {
      try models.documentQuery().results()
    }
    return try found.compactMap { try result($0) }
  }

  private func result(_ found: FullTextResult) throws -> ObjectSearchResult<Object>? {
    try object(found.document).map { ObjectSearchResult($0, ModelSearchMatch(found)) }
  }
}
