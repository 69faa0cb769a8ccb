// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Search the texts of documents by words, the best fit first.",
    discussion: """
      The collection needs a text index: nanostore index text library.db films title. All words must be \
      found; "words in a row", beginnings*, this OR that, -not this. What is found stands between \
      brackets in the snippet.
      """)

  @OptionGroup var place: CollectionOptions

  @Argument(help: "What is searched for, as in a search field.")
  var text: String

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Only documents that fulfil this condition too.", valueName: "condition"))
  var condition: String?

  @OptionGroup var arguments: ArgumentOptions
  @OptionGroup var page: PageOptions

  @Option(
    name: .customLong("index"),
    help: ArgumentHelp("The text index, if the collection has several.", valueName: "name"))
  var index: String?

  @Option(
    help: ArgumentHelp("How much a word counts in a field; repeat for more.", valueName: "field=n"))
  var weight: [String] = []

  @Option(help: "Words of a snippet at most.")
  var words = 16

  @Flag(help: "The documents themselves, as find shows them.")
  var documents = false

  @OptionGroup var format: FormatOptions

  func validate() throws { _ = try weights() }

  private func weights() throws -> [String: Double] {
    var weights: [String: Double] = [:]
    for text in weight {
      guard let equals = text.utf8.lastIndex(of: UInt8(ascii: "=")),
        let number = Double(text[text.utf8.index(after: equals)...])
      else { throw ValidationError("--weight takes field=number, not '\(text)'.") }
      weights[String(text[..<equals])] = number
    }
    return weights
  }

  func run() throws {
    try place.withCollection(.reading) { collection in
      var query = try collection.search(text, in: index).ranked(weights: weights())
      if let condition {
        query = query.where(try arguments.query(condition, in: collection).query.condition)
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
        // Two more digits mean nothing to a reader.
        .double((result.rank * 1000).rounded() / 1000),
        result.snippet(words: words).map { .string($0) },
      ])
    }
    try rows.finish()
  }

  private func showDocuments(_ query: DocumentQuery, _ output: Output) throws {
    let printer = ObjectPrinter(
      isArray: format.chosen == .json, isPlain: format.plain, isPretty: format.pretty, to: output)
    try query.each { try printer.add($0) }
    try printer.finish()
  }
}
