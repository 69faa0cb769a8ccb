// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoServer
import NanoStoreCore

/// Full-text search.
extension Inspector {
  /// Returns ranked results with the strings that matched.
  func search(in collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let text = try request.required("text")
    let size = try request.integer("size", in: 1...100, default: 20)
    let search = FullTextQuery(text)
    var query = collection.search(search, in: request["index"]).ranked().limit(size)
    if let condition = request["where"] {
      query = query.where(try collection.find(condition, arguments: []).query.condition)
    }
    let clock = ContinuousClock()
    let start = clock.now
    let results = try await query.results()
    let elapsed = (clock.now - start) / .milliseconds(1)
    let fields =
      try await collection.fullTextIndexes()
      .filter { request["index"] == nil || $0.name.hasSameBytes(as: request["index"] ?? "") }
      .first?.fields.map(\.description) ?? []
    return [
      "milliseconds": .double(elapsed), "terms": .array(search.terms.map(Self.wire)),
      "results": .array(
        results.map { result in
          let matches: [Wire] = fields.compactMap { field in
            let marked = result.highlights(of: field, begin: Self.begin, end: Self.end)
              .filter { $0.contains(Self.begin) }
            guard !marked.isEmpty else { return nil }
            let snippet = result.snippet(of: field, words: 24, begin: Self.begin, end: Self.end)
            return [
              "field": .string(field), "strings": .int(marked.count),
              "snippet": .optional(snippet),
            ]
          }
          return [
            "rank": .double(result.rank), "document": .document(result.document),
            "matches": .array(matches),
          ]
        }),
    ]
  }

  /// Private-use characters mark matches. A text that contains them is only highlighted incorrectly.
  private static let begin = "\u{F1AA0}"
  private static let end = "\u{F1AA1}"

  private static func wire(_ term: SearchTerm) -> Wire {
    ["kind": .string(term.kind), "text": .string(term.text)]
  }
}

/// A part of a search text as the search understands it.
struct SearchTerm {
  let kind: String
  let text: String
}

extension FullTextQuery {
  /// The parts of the query, from left to right.
  var terms: [SearchTerm] {
    switch self {
    case .phrase(let text): [SearchTerm(kind: text.contains(" ") ? "phrase" : "word", text: text)]
    case .prefix(let text): [SearchTerm(kind: "prefix", text: text)]
    case .near(let words, let distance):
      [SearchTerm(kind: "near, within \(distance)", text: words.joined(separator: " "))]
    case .part(let text, _): [SearchTerm(kind: "part", text: text)]
    case .field(let path, let query):
      query.terms.map { SearchTerm(kind: $0.kind + " in " + path.description, text: $0.text) }
    case .all(let parts): parts.flatMap(\.terms)
    case .any(let parts):
      parts.flatMap(\.terms).map { SearchTerm(kind: "or: " + $0.kind, text: $0.text) }
    case .excluding(let query, let excluded):
      query.terms + excluded.terms.map { SearchTerm(kind: "without: " + $0.kind, text: $0.text) }
    }
  }
}
