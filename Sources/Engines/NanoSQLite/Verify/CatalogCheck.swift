// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Reads and validates every row of the store's internal tables.
struct CatalogCheck {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  func collectionNames() throws -> [String] {
    try connection.all("SELECT name FROM nano_collections ORDER BY name") { $0.text(0) ?? "" }
  }

  func problems() throws -> [VerificationProblem] {
    let names = try collectionNames().map { $0.folded }
    let existing = Set(names)
    var problems = Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
      .map {
        VerificationProblem(
          subject: CollectionRow.table, message: "several rows have the name \($0.text)")
      }
    problems += try rows(CollectionRow.table, CollectionRow.columns) {
      let row = try CollectionRow($0)
      try Self.requireInternalIdentity(row)
      return nil
    }
    problems += try rows(IndexRow.table, IndexRow.columns) { values in
      let row = try IndexRow(values)
      return Self.stray(row.collection, existing, IndexRow.table)
    }
    problems += try rows(PathRow.table, PathRow.columns) { values in
      let row = try PathRow(values)
      return Self.stray(row.collection, existing, PathRow.table)
    }
    problems += try rows(MetadataRow.table, MetadataRow.columns) {
      _ = try MetadataRow($0)
      return nil
    }
    let costColumns = ["collection", "subject", "state"]
    problems += try rows("nano_index_ledger", costColumns) { values in
      var row = InternalRow(table: "nano_index_ledger", columns: costColumns, values: values)
      let collection = try row.text("collection")
      row.collection = collection
      _ = try row.text("subject")
      _ = try row.object("state")
      return Self.stray(collection, existing, "nano_index_ledger")
    }
    return problems + (try sharedAttributes())
  }

  private func rows(
    _ table: String, _ columns: [String],
    _ check: ([DocumentValue]) throws -> VerificationProblem?
  ) throws -> [VerificationProblem] {
    try SQLiteEngine.damage(to: table) {
      try connection.with("SELECT \(columns.joined(separator: ", ")) FROM \(table)") { row in
        var problems: [VerificationProblem] = []
        while try row.step() {
          do {
            if let problem = try check(row.values(columns.count)) { problems.append(problem) }
          } catch let error as StoreError where error.code == .corruptFile {
            let subject = error[.collection] ?? table
            problems.append(VerificationProblem(subject: subject, message: error.debugDescription))
          }
        }
        return problems
      }
    }
  }

  /// Internal collections always have the same identity.
  private static func requireInternalIdentity(_ row: CollectionRow) throws(StoreError) {
    guard let standard = InternalCollection(named: row.name), standard.identity != row.identity
    else {
      return
    }
    throw RowDamage.error(
      CollectionRow.table, column: "identity", collection: row.name,
      expected: standard.identity.rawValue, actual: .string(row.identity.rawValue))
  }

  private static func stray(
    _ collection: String, _ existing: Set<ExactName>, _ table: String
  ) -> VerificationProblem? {
    guard !existing.contains(collection.folded) else { return nil }
    return VerificationProblem(
      subject: table, message: "a row belongs to the collection \(collection), which does not exist"
    )
  }

  /// Finds numbers that the wildcard index would use for more than one path.
  private func sharedAttributes() throws -> [VerificationProblem] {
    try SQLiteEngine.damage(to: PathRow.table) {
      try connection.all(
        SQLFragment(
          "SELECT collection, attribute FROM nano_paths GROUP BY collection, attribute "
            + "HAVING count(*) > 1")
      ) { row in
        VerificationProblem(
          subject: row.text(0) ?? PathRow.table,
          message: "several paths of the catalog have the number \(row.int(1))")
      }
    }
  }
}
