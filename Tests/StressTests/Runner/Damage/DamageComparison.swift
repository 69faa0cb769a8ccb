// SPDX-License-Identifier: MIT

import NanoStore

/// Results that the store finds in one way, and that can be computed in another one.
///
/// They must be equal, unless `verify` reports a problem.
extension DamageUse {
  /// A query that an index may serve, and that can also be evaluated for each document.
  typealias Derived = (name: String, collection: String, condition: Condition)

  /// A result that the store finds in one way, and that can be computed in another one.
  struct Comparison: Sendable {
    let name: String
    let found: @Sendable (Store) throws -> String
    let defined: @Sendable (Store) throws -> String

    init(
      _ name: String, found: @escaping @Sendable (Store) throws -> String,
      defined: @escaping @Sendable (Store) throws -> String
    ) {
      self.name = name
      self.found = found
      self.defined = defined
    }

    init(_ query: Derived) {
      self.init(
        query.name, found: { try indexResult(query, $0) },
        defined: { try evaluatedResult(query, $0) })
    }
  }

  static func comparisons(_ kind: DamageSamples.Kind) -> [Comparison] {
    let queries = derived + (kind == .tuned ? DamageTuning.derived : [])
    let text = Comparison("text", found: indexedWords, defined: scannedWords)
    let own: [Comparison] =
      switch kind {
      case .models: DamageGraph.comparisons
      case .synced: DamageSync.comparisons
      default: []
      }
    // An encrypted store has no full-text index.
    return queries.map { Comparison($0) } + (kind == .encrypted ? [] : [text]) + own
  }

  private static let derived: [Derived] = [
    ("unique", "people", Field("email") == "p7@example.org"),
    ("range", "people", Field("age") > 40 && Field("age") < 50),
    ("compound", "people", Field("last") == "L3" && Field("first") == "F3"),
    ("elements", "people", Field("tags") == "t2"),
    ("everything", "notes", Field("n") == 4),
    ("no index", "films", Field("year") == 1970),
    ("missing", "people", Field("seen") == true),
  ]

  private static func indexResult(_ operation: Derived, _ store: Store) throws -> String {
    let rows = try store[operation.collection].find(operation.condition).rowIDs()
    return rows.map { "\($0)" }.joined(separator: ",")
  }

  /// Returns the same result by evaluating the condition for each document of the table.
  private static func evaluatedResult(_ operation: Derived, _ store: Store) throws -> String {
    let defaults = try store[operation.collection].defaults()
    var rows: [String] = []
    for document in try scan(store, operation.collection) {
      var object = try document.object()
      for field in defaults where object[field.name] == nil { object[field.name] = field.value }
      let subject = DocumentSubject(object)
      if try Evaluator(subject).holds(operation.condition) { rows.append("\(document.rowID ?? 0)") }
    }
    return rows.joined(separator: ",")
  }

  /// Returns the documents with a word, using the full-text index.
  @Sendable private static func indexedWords(_ store: Store) throws -> String {
    let found = try store["films"].search("tonic", in: "title_plot_text").rowIDs().sorted()
    return found.map { "\($0)" }.joined(separator: ",")
  }

  @Sendable private static func scannedWords(_ store: Store) throws -> String {
    try scan(store, "films").filter { document in
      let object = try document.object()
      return ["title", "plot"].contains { name in
        object[name]?.string?.lowercased().split { !$0.isLetter && !$0.isNumber }
          .contains("tonic") == true
      }
    }.map { "\($0.rowID ?? 0)" }.joined(separator: ",")
  }
}
