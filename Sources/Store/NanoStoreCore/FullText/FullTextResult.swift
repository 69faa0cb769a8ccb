// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

/// A document that a search by text found, how well it fits, and where.
public struct FullTextResult: Sendable {
  /// The document.
  public let document: Document
  /// How well it fits: the larger, the better. It means nothing beside the other results of the same search;
  /// 0 where no index found the document.
  public let rank: Double
  let query: FullTextQuery
  let scope: FullTextScope

  /// The texts of a field with markers around what was found, one for each text that the field has.
  ///
  /// ```swift
  /// result.highlights(of: "title", begin: "<b>", end: "</b>")    // ["Sloe <b>gin</b> fizz"]
  /// ```
  ///
  /// The texts are as they are stored: escape them if they become a part of HTML.
  public func highlights(
    of field: String, begin: String = "[", end: String = "]"
  ) -> [String] {
    let path = FieldPath(field)
    let highlighter = FullTextHighlighter(query, in: scope, field: path)
    return texts(at: path).map { highlighter.highlighted($0, begin, end) }
  }

  /// The part of a text in which most was found, with markers; nil if no field has a text.
  ///
  /// ```swift
  /// result.snippet(words: 8)       // "…a measure of [gin], a slice of lemon and [tonic]…"
  /// ```
  ///
  /// - Parameters:
  ///   - field: Where it is taken from; nil for the field of the index in which most was found.
  ///   - words: How many words it has at most.
  ///   - ellipsis: Stands where something is left out.
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
  /// What a search by text finds, in order, with ranks and snippets.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the query has no search that all results must be found
  ///   by.
  public func results() throws -> [FullTextResult] {
    try validate()
    return try collection.reading(.snapshot) { reader in
      let resolved = try query.resolvingSearches(in: reader.textIndexes(in: collection.name))
      guard let search = resolved.condition.rankingSearch, let scope = search.scope else {
        throw StoreError(.invalidArgument, "There is nothing to rank without a search by text")
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
  public func results() async throws -> [FullTextResult] { try await onReader { try $0.results() } }
}
