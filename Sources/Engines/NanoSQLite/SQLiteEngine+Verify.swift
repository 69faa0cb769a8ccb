// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
public import NanoEngine
import NanoQuery
import NanoSQL

extension SQLiteEngine {
  /// Runs SQLite's own integrity check, then reads every document and compares it with the path
  /// catalogue and the indexes on elements.
  public func verify() throws -> [VerificationProblem] {
    do {
      return try read(.snapshot, nil) { reader in
        guard let reader = reader as? SQLiteReader else { throw Self.closed }
        var problems = try reader.connection.all("PRAGMA integrity_check") { $0.text(0) ?? "" }
          .filter { $0 != "ok" }
          .map { VerificationProblem(subject: "file", message: $0) }
        for collection in try reader.collections() {
          problems += try Self.damage(to: collection.name) {
            try CollectionCheck(reader.connection, collection.name).problems()
          }
        }
        return problems
      }
    } catch let error as StoreError where error.isDamage {
      return [VerificationProblem(subject: "file", message: error.debugDescription)]
    }
  }

  /// What is too damaged to be looked at is a problem too, and must not hide the others.
  private static func damage(
    to subject: String, _ check: () throws -> [VerificationProblem]
  ) throws -> [VerificationProblem] {
    do { return try check() } catch let error as StoreError where error.isDamage {
      return [VerificationProblem(subject: subject, message: error.debugDescription)]
    }
  }
}

extension StoreError {
  fileprivate var isDamage: Bool {
    [.corruptFile, .corruptDocument, .notADatabase, .database].contains(code)
  }
}

/// Compares one collection with what is derived from it.
private struct CollectionCheck {
  let connection: SQLiteConnection
  let name: String

  init(_ connection: SQLiteConnection, _ name: String) {
    self.connection = connection
    self.name = name
  }

  func problems() throws -> [VerificationProblem] {
    guard let table = try connection.table(name) else {
      return [problem("the collection has no table")]
    }
    var problems = try missing(table)
    guard problems.isEmpty else { return problems }
    problems = try documents(table)
    for schema in table.schemas where schema.index.kind == .elements {
      problems += try elements(schema)
    }
    for schema in table.text?.schemas ?? [] { problems += try texts(schema) }
    return problems
  }

  /// Tables and indexes that another program dropped.
  private func missing(_ table: CollectionTable) throws -> [VerificationProblem] {
    func exists(_ name: String) throws -> Bool {
      try connection.first(
        SQLFragment("SELECT 1 FROM sqlite_schema WHERE name = ?", [.text(name)])
      ) { _ in true } ?? false
    }
    guard try exists(table.description.name) else {
      return [problem("the collection has no table")]
    }
    let leaves = try table.leaves.map { try exists($0.name) } ?? true
    let names =
      table.schemas.map { ($0.index.name, $0.sqlName) }
      + (table.text?.schemas ?? []).map { ($0.index.name, $0.sqlName) }
    return try names.filter { try !exists($0.1) }.map { problem("index \($0.0) is missing") }
      + (leaves ? [] : [problem("the table of all leaves is missing")])
  }

  private func problem(_ message: String) -> VerificationProblem {
    VerificationProblem(subject: name, message: message)
  }

  /// Every body decodes, and the catalogue and the table of all leaves know all of the rows that they
  /// should know. What they have beside that does no harm.
  private func documents(_ table: CollectionTable) throws -> [VerificationProblem] {
    var problems: [VerificationProblem] = []
    let paths = PathTrie()
    try connection.addStoredPaths(of: name, to: paths)
    var unindexed = 0
    try connection.with(
      "SELECT id, body, revision FROM \(SQLName.quoted(table.description.name))"
    ) { row in
      while try row.step() {
        do {
          var reader = JSONReader(row.bytes(1))
          _ = try reader.object()
          guard row.optionalInt(2) != nil else { continue }
          try paths.observe(row.bytes(1), table.leaves?.buffer)
          unindexed += try table.leaves.map { try missing(row.int(0), $0) } ?? 0
        } catch {
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
    return problems
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
