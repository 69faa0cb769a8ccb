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
    let paths = PathTrie()
    try connection.addStoredPaths(of: name, to: paths)
    var parts: DocumentParts = []
    var unindexed = 0
    try connection.with(
      "SELECT id, key, type, version, added, revision, body, json_valid(body) "
        + "FROM \(SQLName.quoted(table.description.name))"
    ) { row in
      while try row.step() {
        for complaint in complaints(row) {
          problems.append(problem("document \(row.int(0)) \(complaint)"))
        }
        do {
          try BodyCheck.check(row.bytes(6))
          guard row.optionalInt(5) != nil else { continue }
          if !row.isNull(1) { parts.insert(.key) }
          if !row.isNull(2) || !row.isNull(3) { parts.insert(.type) }
          try paths.observe(row.bytes(6), table.leaves?.buffer)
          unindexed += try table.leaves.map { try missing(row.int(0), $0) } ?? 0
        } catch let error as StoreError where error.code == .corruptDocument {
          table.leaves?.buffer.discard()
          problems.append(problem("document \(row.int(0)) does not decode: \(error)"))
        }
      }
    }
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

  /// What is wrong with a row beside its fields.
  private func complaints(_ row: SQLiteStatement) -> [String] {
    var complaints: [String] = []
    if !row.isKey(1) { complaints.append("has a key by which it cannot be found") }
    if !row.isNull(2), row.validText(2) == nil { complaints.append("has a class that is no text") }
    for (column, name) in [(3, "version"), (4, "moment of being added"), (5, "revision")] {
      if !row.isNull(Int32(column)), !row.isInt(Int32(column)) {
        complaints.append("has a \(name) that is no integer")
      }
    }
    if sqlite3_column_type(row.handle, 6) != SQLITE_TEXT {
      complaints.append("has a body that is no text")
    } else if row.int(7) == 0 {
      complaints.append("has a body that is no JSON to SQLite")
    }
    return complaints
  }

  /// How many of the leaves that were gathered from a document are not in their table.
  private func missing(_ id: Int64, _ leaves: LeafIndex) throws -> Int {
    defer { leaves.buffer.discard() }
    return try leaves.buffer.gathered.count { entry in
      var entry = entry
      entry.id = id
      return try !leaves.contains(entry, connection)
    }
  }

  private func texts(_ schema: TextIndexSchema) throws -> [VerificationProblem] {
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

  /// None, the 16 bytes of a UUID, or a text that is none.
  fileprivate func isKey(_ column: Int32) -> Bool {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: true
    case SQLITE_BLOB: sqlite3_column_bytes(handle, column) == 16
    case SQLITE_TEXT:
      if let text = validText(column), case .text? = try? DocumentKey(text) { true } else { false }
    default: false
    }
  }
}
