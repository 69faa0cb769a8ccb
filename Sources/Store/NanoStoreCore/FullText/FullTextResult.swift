// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

/// A document found by a full-text search, with its rank and highlighted matches.
public struct FullTextResult: Sendable {
  /// The document.
  public let document: Document
  /// The relevance of the document: larger is better. Ranks are comparable only within the results
  /// of one search; 0 if no index found the document.
  public let rank: Double
  let query: FullTextQuery
  let scope: FullTextScope

  /// Returns the strings of a field, each with its matches highlighted.
  ///
  /// ```swift
  /// result.highlights(of: "title", begin: "<b>", end: "</b>")    // ["Sloe <b>gin</b> fizz"]
  /// ```
  ///
  /// The strings are not escaped: escape them before inserting them into HTML.
  public func highlights(
    of field: String, begin: String = "[", end: String = "]"
  ) -> [String] {
    let path = FieldPath(field)
    let highlighter = FullTextHighlighter(query, in: scope, field: path)
    return texts(at: path).map { highlighter.highlighted($0, begin, end) }
  }

  /// Returns the excerpt with the most matches, highlighted, or nil if no field holds a string.
  ///
  /// ```swift
  /// result.snippet(words: 8)       // "…a measure of [gin], a slice of lemon and [tonic]…"
  /// ```
  ///
  /// - Parameters:
  ///   - field: The field to excerpt; nil for the indexed field with the most matches.
  ///   - words: The maximum number of words.
  ///   - begin: The marker before a match.
  ///   - end: The marker after a match.
  ///   - ellipsis: The text that replaces omitted words.
  public func snippet(
    of field: String? = nil, words: Int = 16, begin: String = "[", end: String = "]",
    ellipsis: String = "…"
  ) -> String? {
    var best: (text: String, found: Int)?
    for path in field.map({ [FieldPath($0)] }) ?? scope.fields {
      let highlighter = FullTextHighlighter(query, in: scope, field: path)
      for text in texts(at: path) {
        let snippet = highlighter.snippet(text, words: words, begin, end, ellipsis: ellipsis)
        if best.map({ snippet.found > $0.found }) ?? true { best = snippet }
      }
    }
    return best?.text
  }

  private func texts(at path: FieldPath) -> [String] {
    guard let object = try? document.object() else { return [] }
    return DocumentSubject(object).texts(at: path)
  }
}

extension DocumentQuery {
  /// Returns the results of a full-text search in order, with ranks and snippets.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the query has no full-text search that all
  ///   results must match.
  public func results() throws -> [FullTextResult] {
    try validate()
    return try collection.reading(.snapshot) { reader in
      let resolved = try query.resolvingSearches(in: reader.fullTextIndexes(in: collection.name))
      guard let search = resolved.condition.rankingSearch, let scope = search.scope else {
        throw StoreError(.invalidArgument, "Only the results of a full-text search have ranks")
      }
      var results: [FullTextResult] = []
      try reader.findRanked(resolved, in: collection.name) { stored, rank in
        results.append(
          FullTextResult(
            document: try document(stored, query.fields), rank: rank, query: search.query,
            scope: scope))
        return true
      }
      return results
    }
  }
  /// The asynchronous form of `results()`, which does not block the calling thread.
  public func results() async throws -> [FullTextResult] { try await onReader { try $0.results() } }
}
