// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Compares the documents of one collection with the data derived from them.
struct CollectionCheck {
  private let connection: SQLiteConnection
  private let name: String

  init(_ connection: SQLiteConnection, _ name: String) {
    self.connection = connection
    self.name = name
  }

  func problems() throws -> [VerificationProblem] {
    guard let table = try connection.table(name),
      try connection.hasTableOrIndex(table.description.name)
    else {
      return [problem("the collection has no table")]
    }
    if try table.wildcardIndex.map({ try !connection.hasTableOrIndex($0.name) }) == true {
      return [problem("the wildcard index is missing")]
    }
    var problems = try documents(table)
    for schema in table.schemas {
      guard try connection.hasTableOrIndex(schema.sqlName) else {
        problems.append(problem("index \(schema.index.name) is missing"))
        continue
      }
      switch schema.index.kind {
      // SQLite's integrity check compares an index with its table.
      case .fields: break
      case .elements: problems += try SQLiteEngine.damage(to: name) { try elements(schema) }
      }
    }
    for schema in table.text?.schemas ?? [] {
      guard try connection.hasTableOrIndex(schema.sqlName) else {
        problems.append(problem("index \(schema.index.name) is missing"))
        continue
      }
      problems += try SQLiteEngine.damage(to: name) { try texts(schema) }
    }
    return problems
  }

  private func problem(_ message: String) -> VerificationProblem {
    VerificationProblem(subject: name, message: message)
  }

  /// Validates every row, and checks that the path catalog and the wildcard index cover all rows that they
  /// should. Superfluous entries are harmless.
  private func documents(_ table: CollectionTable) throws -> [VerificationProblem] {
    var problems: [VerificationProblem] = []
    var unlisted = 0
    func note(_ id: Int64, _ complaint: String) {
      guard problems.count < Self.maximumListed else {
        unlisted += 1
        return
      }
      problems.append(problem("document \(id) \(complaint)"))
    }
    let paths = PathTrie()
    try connection.addStoredPaths(of: name, to: paths)
    let bodies = BodyComparison(connection, table)
    var parts: AttributeUsage = []
    var unindexed = 0
    try connection.with(
      "SELECT \(ForeignRow.columns), revision, json_valid(body) "
        + "FROM \(SQLName.quoted(table.description.name))"
    ) { row in
      while try row.step() {
        let id = row.int(0)
        let isForeign = row.isNull(6)
        // Checked first, because reading a column as text may change its type.
        let hasKey = !row.isNull(2)
        let hasType = !row.isNull(3) || !row.isNull(4)
        for complaint in complaints(row, isForeign: isForeign) { note(id, complaint) }
        do {
          try BodyValidator.check(row.bytes(1))
          if isForeign {
            if let index = try bodies.conflict(of: ForeignRow(row)) {
              note(id, "cannot be adopted: \(index) already has its value")
            }
          } else {
            if hasKey { parts.insert(.key) }
            if hasType { parts.insert(.type) }
            try paths.observe(row.bytes(1), table.wildcardIndex?.buffer)
            unindexed += try table.wildcardIndex.map { try missing(id, $0) } ?? 0
          }
        } catch let error as StoreError where error.code == .corruptDocument {
          table.wildcardIndex?.buffer.discard()
          note(id, "does not decode: \(error)")
          continue
        }
        do {
          guard let rewritten = try CanonicalBody.rewritten(row.bytes(1)), !isForeign else {
            continue
          }
          for index in try bodies.indexes(thatMiss: row.bytes(1), rewritten) {
            note(id, "is not in stored form, and index \(index) has different values for it")
          }
        } catch let error as StoreError where error.code == .corruptDocument {
          note(id, "cannot be exported unchanged: \(error)")
        }
      }
    }
    if unlisted > 0 { problems.append(problem("\(unlisted) more documents have problems")) }
    for node in paths.takeChanged() {
      problems.append(problem("the path catalog lacks \(paths.path(of: node).text)"))
    }
    if unindexed > 0 {
      problems.append(problem("the wildcard index lacks \(unindexed) entries"))
    }
    if !table.parts.isSuperset(of: parts) {
      problems.append(
        problem("nano_collections does not record that documents have keys or classes"))
    }
    return problems
  }

  /// The maximum number of documents listed individually, to keep the report small. Arbitrary.
  private static let maximumListed = 1_000

  /// Returns the problems of a row, other than those of its fields.
  private func complaints(_ row: SQLiteStatement, isForeign: Bool) -> [String] {
    var complaints: [String] = []
    if !row.isKey(2, isForeign: isForeign) {
      complaints.append("has a key by which it cannot be found")
    }
    if !row.isNull(3), row.validText(3) == nil { complaints.append("has a class that is not text") }
    for (column, name) in [(4, "version"), (5, "creation date"), (6, "revision")] {
      if !row.isNull(Int32(column)), !row.isInt(Int32(column)) {
        complaints.append("has a \(name) that is not an integer")
      }
    }
    if sqlite3_column_type(row.handle, 1) != SQLITE_TEXT {
      complaints.append("has a body that is not text")
    } else if row.int(7) == 0 {
      complaints.append("has a body that SQLite does not accept as JSON")
    }
    return complaints
  }

  /// Returns how many of the values collected from a document are missing from the wildcard index.
  private func missing(_ id: Int64, _ wildcardIndex: WildcardIndex) throws -> Int {
    defer { wildcardIndex.buffer.discard() }
    return try wildcardIndex.buffer.gathered.count { entry in
      var entry = entry
      entry.id = id
      return try !wildcardIndex.contains(entry, connection)
    }
  }

  private func texts(_ schema: FullTextIndexSchema) throws -> [VerificationProblem] {
    let count = try schema.difference(connection)
    return count == 0
      ? [] : [problem("index \(schema.index.name) differs from the documents in \(count) entries")]
  }

  private func elements(_ schema: IndexSchema) throws -> [VerificationProblem] {
    let difference = try schema.elementDifference()
    let count = try connection.first(SQLFragment(difference)) { $0.int(0) } ?? 0
    return count == 0
      ? [] : [problem("index \(schema.index.name) differs from the documents in \(count) entries")]
  }
}

extension SQLiteStatement {
  func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// Returns `nil` for anything but valid text.
  func validText(_ column: Int32) -> String? {
    guard sqlite3_column_type(handle, column) == SQLITE_TEXT else { return nil }
    return String(validating: bytes(column), as: UTF8.self)
  }

  /// Whether the column is NULL, the 16 bytes of a UUID, or text that is not a UUID; in a foreign row, also a
  /// value that becomes one of these when the row is adopted.
  func isKey(_ column: Int32, isForeign: Bool) -> Bool {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return true
    case SQLITE_BLOB: return sqlite3_column_bytes(handle, column) == 16
    case SQLITE_TEXT:
      guard let text = validText(column), let key = try? DocumentKey(text) else { return false }
      if case .uuid = key { return isForeign }
      return true
    default: return isForeign
    }
  }
}
