// SPDX-License-Identifier: MIT

/// The columns of a `CREATE TABLE` statement, parsed without SQLite: the text comes from a file that may be damaged,
/// and must not be executed.
struct TableDefinition {
  struct Column {
    let name: String
    /// Whether the column is an alias of the row ID, whose value is not in the record.
    let isRowID: Bool
  }
  private(set) var columns: [Column] = []
  /// Whether the text ends its list of columns, and has no control characters, which definitions hardly have.
  private(set) var isSound = false

  init(_ sql: String) {
    let hasControls = sql.unicodeScalars.contains { $0.value < 9 || (14..<32).contains($0.value) }
    var tokens = SQLTokens(sql)
    // `CREATE TABLE name`, `CREATE TEMP TABLE main.name` and so on, up to the list of columns.
    while let token = tokens.next() { if token == .symbol("(") { break } }
    var definition: [SQLToken] = []
    var depth = 0
    while let token = tokens.next() {
      if depth == 0, token == .symbol(",") || token == .symbol(")") {
        add(definition)
        definition = []
        if token == .symbol(")") {
          isSound = !hasControls && !columns.isEmpty
          return
        }
        continue
      }
      if token == .symbol("(") { depth += 1 }
      if token == .symbol(")") { depth -= 1 }
      definition.append(token)
    }
    add(definition)
  }

  private static let constraints: Set<String> = [
    "constraint", "primary", "unique", "check", "foreign",
  ]

  private mutating func add(_ definition: [SQLToken]) {
    let name: String
    switch definition.first {
    case .quoted(let text): name = text
    case .word(let text):
      guard !Self.constraints.contains(text.lowercased()) else { return }
      name = text
    case .symbol, nil: return
    }
    let words = definition.dropFirst().map { token in
      if case .word(let text) = token { text.lowercased() } else { "" }
    }
    let isRowID =
      words.starts(with: ["integer", "primary", "key"]) && words.dropFirst(3).first != "desc"
    columns.append(Column(name: name, isRowID: isRowID))
  }
}
