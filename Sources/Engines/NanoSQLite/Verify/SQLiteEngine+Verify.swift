// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
package import NanoEngine
import NanoSQL

extension SQLiteEngine {
  /// Runs SQLite's own integrity check, then reads the store's own tables, compares every definition with
  /// the one that the store would write, and reads every document and compares it with the path catalogue
  /// and the indexes.
  package func verify() throws -> [VerificationProblem] {
    do {
      return try read(.snapshot, nil) { reader in
        guard let connection = (reader as? SQLiteReader)?.connection else { throw Self.closed }
        var problems = try Self.damage(to: "file") { try Self.integrity(connection) }
        let catalogue = CatalogCheck(connection)
        problems += try Self.damage(to: "file") { try catalogue.problems() }
        let names = try catalogue.collectionNames()
        problems += try Self.damage(to: "file") {
          try DefinitionCheck(connection, collections: names).problems()
        }
        for name in names {
          problems += try Self.damage(to: name) { try CollectionCheck(connection, name).problems() }
        }
        // The same damage is met on several ways.
        var seen: Set<VerificationProblem> = []
        return problems.filter { seen.insert($0).inserted }
      }
    } catch let error as StoreError where error.isDamage {
      return [VerificationProblem(subject: "file", message: error.debugDescription)]
    }
  }

  private static func integrity(_ connection: SQLiteConnection) throws -> [VerificationProblem] {
    try connection.all("PRAGMA integrity_check") { $0.text(0) ?? "" }
      .filter { $0 != "ok" }
      .map { VerificationProblem(subject: "file", message: $0) }
  }

  /// What is too damaged to be looked at is a problem too, and must not hide the others.
  static func damage(
    to subject: String, _ check: () throws -> [VerificationProblem]
  ) throws -> [VerificationProblem] {
    do { return try check() } catch let error as StoreError where error.isDamage {
      return [VerificationProblem(subject: subject, message: error.debugDescription)]
    }
  }
}

extension StoreError {
  /// Whether it tells of damage, rather than of a lock or a disk.
  fileprivate var isDamage: Bool {
    [.corruptFile, .corruptDocument, .notADatabase, .database, .documentTooLarge].contains(code)
  }
}
