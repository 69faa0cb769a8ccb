// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Show how find executes a query: the SQL, the query plan and the indexes.",
    discussion:
      "Lists fields that no document has first, each with the most similar existing name.")

  @OptionGroup var target: CollectionOptions
  @OptionGroup var options: QueryOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try target.withCollection(.reading) { collection in
      let explanation = try options.query(in: collection).explain()
      try Output.run { output in
        guard !json else { return try Self.writeJSON(explanation, to: output) }
        let indexes = explanation.indexes.joined(separator: ", ")
        for field in explanation.unknownFields {
          try output.line("unknown    \(TerminalText.text(Self.sentence(field)))")
        }
        try output.line("indexes    \(TerminalText.text(indexes.isEmpty ? "none" : indexes))")
        if let filter = explanation.checkedPerDocument {
          try output.line("checked    \(TerminalText.text(filter))")
        }
        try output.line("statement  \(TerminalText.text(explanation.statement))")
        for (number, step) in explanation.plan.enumerated() {
          try output.line((number == 0 ? "plan       " : "           ") + TerminalText.text(step))
        }
      }
    }
  }

  /// Returns a message such as `[emial], which no document has; did you mean [email]?`.
  static func sentence(_ field: UnknownField) -> String {
    let suggestion = field.nearest.map { "; did you mean [\($0)]?" } ?? ""
    return "[\(field.path)], which no document has\(suggestion)"
  }

  private static func writeJSON(_ explanation: Explanation, to output: Output) throws {
    let object: DocumentObject = [
      "indexes": .array(explanation.indexes.map { .string($0) }),
      "checkedPerDocument": explanation.checkedPerDocument.documentValue,
      "statement": .string(explanation.statement),
      "plan": .array(explanation.plan.map { .string($0) }),
      "unknownFields": .array(
        explanation.unknownFields.map { field in
          .object([
            "field": .string("\(field.path)"),
            "nearest": (field.nearest.map { "\($0)" }).documentValue,
          ])
        }),
    ]
    try output.line(TerminalText.json(object.jsonString(pretty: true)))
  }
}
