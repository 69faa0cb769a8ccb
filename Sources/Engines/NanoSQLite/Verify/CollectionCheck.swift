// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Compares the documents of one collection with what is derived from them.
struct CollectionCheck {
  private let connection: SQLiteConnection
  private let name: String

  init(_ connection: SQLiteConnection, _ name: String) {
    self.connection = connection
    self.name = name
  }

  func problems() throws -> [VerificationProblem] {
    guard let table = try connection.table(name), try exists(table.description.name) else {
      return [problem("the collection has no table")]
    }
    if try table.leaves.map({ try !exists($0.name) }) == true {
      return [problem("the table of all leaves is missing")]
    }
    var problems = try documents(table)
    for schema in table.schemas {
      guard try exists(schema.sqlName) else {
        problems.append(problem("index \(schema.index.name) is missing"))
        continue
      }
      if schema.index.kind == .elements {
        problems += try SQLiteEngine.damage(to: name) { try elements(schema) }
      }
    }
    for schema in table.text?.schemas ?? [] {
      guard try exists(schema.sqlName) else {
        problems.append(problem("index \(schema.index.name) is missing"))
        continue
      }
      problems += try SQLiteEngine.damage(to: name) { try texts(schema) }
    }
    return problems
  }

  private func exists(_ name: String) throws -> Bool {
    try connection.first(
      SQLFragment("SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE", [.text(name)])
    ) { _ in true } ?? false
  }

  private func problem(_ message: String) -> VerificationProblem {
    VerificationProblem(subject: name, message: message)
  }

  /// Every row makes sense, and the catalogue and the table of all leaves know all of the rows that they
  /// should know. What they have beside that does no harm.
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
        // Asked first, since reading a column as text may change its type.
        let hasKey = !row.isNull(2)
        let hasType = !row.isNull(3) || !row.isNull(4)
        for complaint in complaints(row, isForeign: isForeign) { note(id, complaint) }
        do {
          try BodyValidator.check(row.bytes(1))
          if isForeign {
            if let index = try bodies.refusal(of: ForeignRow(row)) {
              note(id, "cannot be adopted: \(index) has its value already")
            }
          } else {
            if hasKey { parts.insert(.key) }
            if hasType { parts.insert(.type) }
            try paths.observe(row.bytes(1), table.leaves?.buffer)
            unindexed += try table.leaves.map { try missing(id, $0) } ?? 0
          }
        } catch let error as StoreError where error.code == .corruptDocument {
          table.leaves?.buffer.discard()
          note(id, "does not decode: \(error)")
          continue
        }
        do {
          guard let rewritten = try CanonicalBody.rewritten(row.bytes(1)), !isForeign else {
            continue
          }
          for index in try bodies.indexes(thatMiss: row.bytes(1), rewritten) {
            note(id, "is not in stored form, and index \(index) has other values for it")
          }
        } catch let error as StoreError where error.code == .corruptDocument {
          note(id, "cannot be exported unchanged: \(error)")
        }
      }
    }
    if unlisted > 0 { problems.append(problem("\(unlisted) further documents have problems")) }
    for node in paths.takeChanged() {
      problems.append(problem("the catalogue lacks \(paths.path(of: node).text)"))
    }
    if unindexed > 0 {
      problems.append(problem("the table of all leaves lacks \(unindexed) entries"))
    }
    if !table.parts.isSuperset(of: parts) {
      problems.append(problem("nano_collections does not know that documents have keys or classes"))
    }
    return problems
  }

  /// Problems of documents that are listed one by one, so that a report stays small. Arbitrary.
  private static let maximumListed = 1_000

  /// What is wrong with a row beside its fields.
  private func complaints(_ row: SQLiteStatement, isForeign: Bool) -> [String] {
    var complaints: [String] = []
    if !row.isKey(2, isForeign: isForeign) {
      complaints.append("has a key by which it cannot be found")
    }
    if !row.isNull(3), row.validText(3) == nil { complaints.append("has a class that is no text") }
    for (column, name) in [(4, "version"), (5, "moment of being added"), (6, "revision")] {
      if !row.isNull(Int32(column)), !row.isInt(Int32(column)) {
        complaints.append("has a \(name) that is no integer")
      }
    }
    if sqlite3_column_type(row.handle, 1) != SQLITE_TEXT {
      complaints.append("has a body that is no text")
    } else if row.int(7) == 0 {
      complaints.append("has a body that is no JSON to SQLite")
    }
    return complaints
  }

  /// How many of the leaves that were gathered from a document are not in their table.
  private func missing(_ id: Int64, _ leaves: WildcardIndex) throws -> Int {
    defer { leaves.buffer.discard() }
    return try leaves.buffer.gathered.count { entry in
      var entry = entry
      entry.id = id
      return try !leaves.contains(entry, connection)
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
  fileprivate func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// Nil for anything but a text, and for bytes that are none.
  fileprivate func validText(_ column: Int32) -> String? {
    guard sqlite3_column_type(handle, column) == SQLITE_TEXT else { return nil }
    return String(validating: bytes(column), as: UTF8.self)
  }

  /// None, the 16 bytes of a UUID, or a text that is none. In a foreign row also what becomes one of these
  /// when the row is adopted.
  fileprivate func isKey(_ column: Int32, isForeign: Bool) -> Bool {
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
