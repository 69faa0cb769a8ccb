// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Search documents by full text, ranked by relevance.",
    discussion: """
      The collection needs a full-text index: nanostore index text library.db films title. A document \
      matches if it contains all words of the search text. The search text also supports "exact \
      phrases", prefixes*, this OR that, and -excluded words. Snippets show matches in brackets.
      """)

  @OptionGroup var target: CollectionOptions

  @Argument(help: "The search text.")
  var text: String

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Return only documents that also match this condition.", valueName: "condition"))
  var condition: String?

  @OptionGroup var arguments: ArgumentOptions
  @OptionGroup var page: PageOptions

  @Option(
    name: .customLong("index"),
    help: ArgumentHelp(
      "The full-text index to use, if the collection has more than one.", valueName: "name"))
  var index: String?

  @Option(
    help: ArgumentHelp(
      "The weight of a field in the ranking; repeat for more.", valueName: "field=n"))
  var weight: [String] = []

  @Option(help: "Maximum number of words in a snippet.")
  var words = 16

  @Flag(help: "Print the documents as find does, instead of keys and snippets.")
  var documents = false

  @OptionGroup var format: FormatOptions

  func validate() throws { _ = try weights() }

  private func weights() throws -> [String: Double] {
    var weights: [String: Double] = [:]
    for text in weight {
      guard let equals = text.utf8.lastIndex(of: UInt8(ascii: "=")),
        let number = Double(text[text.utf8.index(after: equals)...])
      else { throw ValidationError("--weight requires field=number, not '\(text)'") }
      weights[String(text[..<equals])] = number
    }
    return weights
  }

  func run() throws {
    try target.withCollection(.reading) { collection in
      var query = try collection.search(text, in: index).ranked(weights: weights())
      if let condition {
        let parsed = try arguments.query(condition, in: collection).query
        query = query.where(parsed.condition).limit(parsed.limit, offset: parsed.offset)
        if !parsed.orderings.isEmpty { query = query.sorted(by: parsed.orderings) }
      }
      query = try page.applied(to: query)
      try Output.run { output in
        guard !documents else { return try showDocuments(query, output) }
        try showResults(query, output)
      }
    }
  }

  private func showResults(_ query: DocumentQuery, _ output: Output) throws {
    let rows = format.rows(["key", "rank", "snippet"], to: output)
    try rows.begin()
    for result in try query.results() {
      let document = result.document
      try rows.add([
        document.key.map { .string($0) } ?? document.rowID.map { .int($0) },
        // Further digits carry no information for a reader.
        .double((result.rank * 1000).rounded() / 1000),
        result.snippet(words: words).map { .string($0) },
      ])
    }
    try rows.finish()
  }

  private func showDocuments(_ query: DocumentQuery, _ output: Output) throws {
    let printer = ObjectPrinter(
      isArray: format.chosen == .json, isPlain: format.json.plain, isPretty: format.pretty,
      to: output)
    try query.each { try printer.add($0) }
    try printer.finish()
  }
}
