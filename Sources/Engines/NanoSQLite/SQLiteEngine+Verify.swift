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
    try read(.snapshot, nil) { reader in
      guard let reader = reader as? SQLiteReader else { throw Self.closed }
      var problems = try reader.connection.all("PRAGMA integrity_check") { $0.text(0) ?? "" }
        .filter { $0 != "ok" }
        .map { VerificationProblem(subject: "file", message: $0) }
      for collection in try reader.collections() {
        problems += try CollectionCheck(reader.connection, collection.name).problems()
      }
      return problems
    }
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
    var problems = try documents(table)
    for index in table.indexes where index.kind == .elements {
      problems += try elements(index, table)
    }
    return problems
  }

  private func problem(_ message: String) -> VerificationProblem {
    VerificationProblem(subject: name, message: message)
  }

  /// Every body decodes, and the catalogue knows every path of the rows that it should know.
  private func documents(_ table: CollectionTable) throws -> [VerificationProblem] {
    var problems: [VerificationProblem] = []
    let paths = PathTrie()
    try connection.addStoredPaths(of: name, to: paths)
    try connection.with(
      "SELECT id, body, revision FROM \(SQLName.quoted(table.description.name))"
    ) { row in
      while try row.step() {
        do {
          var reader = JSONReader(row.bytes(1))
          _ = try reader.object()
          if row.optionalInt(2) != nil { try paths.observe(row.bytes(1)) }
        } catch {
          problems.append(problem("document \(row.int(0)) does not decode: \(error)"))
        }
      }
    }
    for node in paths.takeChanged() {
      problems.append(problem("the catalogue lacks \(paths.path(of: node).text)"))
    }
    return problems
  }

  private func elements(
    _ index: IndexDefinition, _ table: CollectionTable
  ) throws -> [VerificationProblem] {
    guard let side = table.elementTables[index.name] else {
      return [problem("index \(index.name) has no table")]
    }
    let schema = IndexSchema(collection: table.description.name, index: index)
    let difference = try schema.elementDifference(side)
    let count = try connection.first(SQLFragment(difference)) { $0.int(0) } ?? 0
    return count == 0
      ? [] : [problem("index \(index.name) differs from the documents in \(count) entries")]
  }
}
