// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import Testing

@Suite("Examples in docs/QUERY-SEMANTICS.md")
struct SemanticsExamplesTests {
  @Test("The evaluator computes the result in each table row")
  func examples() throws {
    let examples = try Example.all()
    #expect(examples.count > 100)
    for example in examples {
      let actual = try #require(try example.actual(), "\(example)")
      #expect(actual == example.expected, "\(example)")
    }
  }
}

/// A table row: one or more documents, a query and the result.
private struct Example: CustomStringConvertible {
  let heading: [String]
  let documents: String
  let query: String
  let expected: String

  var description: String { "\(documents) | \(query)" }

  static func all() throws -> [Example] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/QUERY-SEMANTICS.md")
    var heading: [String] = []
    var examples: [Example] = []
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      guard line.hasPrefix("| ") else {
        if !line.hasPrefix("|---") { heading = [] }
        continue
      }
      let cells = cells(line)
      if heading.isEmpty {
        heading = cells
      } else if heading[0].hasPrefix("document") {
        examples.append(
          Example(
            heading: heading, documents: cells[0], query: cells[1], expected: cells[2]))
      }
    }
    return examples
  }

  /// Returns the cells of a row without backticks. A bar in a cell is written `\|`.
  private static func cells(_ line: Substring) -> [String] {
    line.replacing("\\|", with: "\u{1}").split(separator: "|", omittingEmptySubsequences: false)
      .dropFirst().dropLast().map {
        $0.replacing("\u{1}", with: "|").replacing("`", with: "")
          .trimmingCharacters(in: .whitespaces)
      }
  }

  /// Returns the result in the notation of the table; nil for an unknown kind of table.
  func actual() throws -> String? {
    switch heading[1] {
    case "condition":
      let condition = try QueryText(query).condition
      return try Evaluator(subject()).holds(condition) ? "yes" : "no"
    case "condition on related documents":
      let condition = try Self.reading(try QueryText(query).condition)
      return try Evaluator(subject()).holds(condition) ? "yes" : "no"
    case "condition with defaults":
      let condition = try QueryText(query).condition
      var subject = try subject()
      subject.defaults = FieldDefaults(Self.defaults)
      return try Evaluator(subject).holds(condition) ? "yes" : "no"
    case "expression":
      let expression = try QueryText.orderings(query)[0].expression
      return try Evaluator(subject()).values(expression).map(Self.text).joined(separator: ", ")
    case "ascending by":
      return Self.text(try QueryText.orderings(query)[0].value(for: subject()))
    case "aggregate", "grouped by": return try aggregated()
    case "distinct":
      let values = DistinctValues(FieldPath(query))
      try eachBody { try values.add($0) }
      return values.values.map(Self.text).joined(separator: ", ")
    case "update": return try updated()
    case "pipeline": return try rows().joined(separator: " ")
    default: return nil
    }
  }

  /// Every collection has the same documents.
  private struct Documents: PipelineDocuments {
    let example: Example

    func each(_ query: Query, in collection: String, _ visit: Visitor) throws {
      try example.eachBody { _ = try visit($0) { _ in .null } }
    }
    func defaults(of collection: String) throws -> FieldDefaults? { nil }
  }

  private func rows() throws -> [String] {
    var rows: [String] = []
    let pipeline = try PipelineText(query).pipeline()
    try pipeline.validate()
    let runner = PipelineRunner(
      pipeline, defaults: nil, documents: Documents(example: self), makeSpill: nil
    ) { row in
      rows.append(row.jsonString())
      return true
    }
    try eachBody { _ = try runner.add($0) { _ in .null } }
    try runner.finish()
    return rows
  }

  private func updated() throws -> String {
    var object = try DocumentObject(json: documents)
    do throws(StoreError) {
      for change in try FieldChange.list(try DocumentObject(json: query)) {
        try change.apply(to: &object)
      }
      return object.jsonString()
    } catch {
      return error.code == .typeMismatch ? "error" : "error \(error.code.rawValue)"
    }
  }

  /// The documents of the collection `r`.
  private static let related: [DocumentObject] = [
    ["k": 1, "s": "x"], ["k": 1, "s": "y"], ["k": [2, 2, "t"]], ["k": nil],
  ]

  /// Returns the condition with the values of the documents above.
  private static func reading(_ condition: Condition) throws -> Condition {
    try condition.replacingRelated { related in
      let inner = try reading(related.condition)
      let matcher = try ConditionMatcher(inner)
      let collector = RelatedCollector(related, defaults: nil)
      for (index, object) in Self.related.enumerated() {
        let rowID = Int64(index + 1)
        func attribute(_ attribute: Attribute) -> DocumentValue {
          attribute == .rowID ? .int(rowID) : .null
        }
        var writer = JSONWriter()
        writer.object(object)
        try Array(writer.bytes).withUnsafeBytes { body in
          guard try matcher.holds(for: body, attribute) else { return }
          try collector.add(body, rowID: rowID, attribute)
        }
      }
      var read = related
      read.matches = collector.matches
      return .related(read)
    }
  }

  private static let defaults: DocumentObject = ["a": 1, "o": ["k": 9], "l": ["x", "y"]]

  private func subject() throws -> DocumentSubject {
    DocumentSubject(try DocumentObject(json: documents))
  }

  private func aggregated() throws -> String {
    let words = query.split(separator: " ").map(String.init)
    guard heading[1] == "aggregate" else {
      let program = CompiledAggregation(
        AggregateQuery(groups: [FieldPath(query)], aggregates: [.count]))
      try eachBody { try program.add($0) }
      return program.rows.map { "\(Self.text($0.group[0])): \(Self.text($0.values[0]))" }
        .joined(separator: ", ")
    }
    let path = FieldPath(words.last ?? "")
    let aggregate: Aggregate =
      switch words[0] {
      case "countOf": .countOf(path)
      case "maximum": .max(path)
      case "average": .average(path)
      case "total": .sum(path)
      default: .count
      }
    let program = CompiledAggregation(AggregateQuery(aggregates: [aggregate]))
    try eachBody { try program.add($0) }
    return program.rows[0].values.map(Self.text).joined()
  }

  private func eachBody(_ add: (UnsafeRawBufferPointer) throws -> Void) throws {
    for text in documents.replacing("} {", with: "}\u{1}{").split(separator: "\u{1}") {
      var writer = JSONWriter()
      writer.object(try DocumentObject(json: String(text)))
      try add(writer.bytes)
    }
  }

  private static func text(_ value: DocumentValue) -> String {
    QueryExpression.value(value).queryText
  }
}
