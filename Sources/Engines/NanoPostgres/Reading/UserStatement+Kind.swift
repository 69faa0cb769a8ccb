// SPDX-License-Identifier: MIT

import NanoDocument

/// What a statement may change, as far as its words tell.
extension UserStatement {
  /// Whether the server can plan the statement, so that the tables it writes to are known beforehand.
  var canBeExplained: Bool { isPlanned || (created == .table && queryStart != nil) }

  /// Whether the statement reads or writes rows, and defines nothing.
  private var isPlanned: Bool {
    guard let first = words.first else { return false }
    return ["insert", "update", "delete", "merge", "with", "values", "table"]
      .contains(where: first.isKeyword)
  }

  /// The words that may name what a definition changes. The query of a view or of a new table only reads what it
  /// names, unless the plan of the query says otherwise.
  var definingWords: ArraySlice<Word> {
    isPlanned ? [] : words[..<(queryStart ?? words.endIndex)]
  }

  /// Whether the statement is an `EXPLAIN` that does not execute what it explains.
  var isPlainExplanation: Bool {
    guard begins(with: "explain"), !escapesNames else { return false }
    // The name of an option may be quoted.
    return !words.contains {
      $0.text.hasSameBytes(as: "analyze") || $0.text.hasSameBytes(as: "analyse")
    }
  }

  /// Whether the statement names the tables that it reads, and writes at most by the functions that it calls.
  var isQuery: Bool { begins(with: "select") }

  /// Whether the statement is a block of a procedural language.
  var isBlock: Bool { begins(with: "do") }

  /// Whether the statement drops or alters a schema.
  var changesSchema: Bool { begins(with: "drop", "schema") || begins(with: "alter", "schema") }

  /// - Throws: ``StoreError/Code/invalidArgument`` if the statement exchanges rows with the client in COPY's protocol.
  func refuseCopying() throws(StoreError) {
    guard begins(with: "copy"),
      words.contains(where: { $0.isKeyword("stdin") || $0.isKeyword("stdout") })
    else { return }
    throw StoreError(
      .invalidArgument, "A statement cannot copy rows from or to the client",
      [.actual: "COPY", .hint: "use SELECT to read, and INSERT to write"])
  }

  private func begins(with keywords: String...) -> Bool {
    words.count >= keywords.count && zip(words, keywords).allSatisfy { $0.isKeyword($1) }
  }

  private enum Created { case view, table }

  /// What the statement creates, if it may have a query.
  private var created: Created? {
    guard begins(with: "create") else { return nil }
    let kind = words.dropFirst().first { word in
      !Self.modifiers.contains(where: word.isKeyword)
    }
    if kind?.isKeyword("view") == true { return .view }
    return kind?.isKeyword("table") == true ? .table : nil
  }

  /// The words between CREATE and the kind of a view or table.
  private static let modifiers = [
    "or", "replace", "global", "local", "temporary", "temp", "unlogged", "recursive",
    "materialized",
  ]

  /// The position of the query of a view or of CREATE TABLE AS.
  private var queryStart: Int? {
    guard let created, let start = words.firstIndex(where: { $0.isKeyword("as") }) else {
      return nil
    }
    // In other definitions of a table, AS belongs to a generated column.
    guard created == .table else { return start }
    guard let next = words[start...].dropFirst().first else { return nil }
    return ["select", "with", "values", "table"].contains(where: next.isKeyword) ? start : nil
  }
}
