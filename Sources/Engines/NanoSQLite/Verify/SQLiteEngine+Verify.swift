// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
package import NanoEngine
import NanoSQL

extension SQLiteEngine {
  /// Verifies the database.
  ///
  /// Runs SQLite's integrity check, reads the store's internal tables, compares every schema definition with the
  /// one that the store would write, and compares every document with the path catalog and the indexes.
  package func verify() throws -> [VerificationProblem] {
    do {
      return try read(.snapshot, nil) { reader in
        guard let connection = (reader as? SQLiteReader)?.connection else { throw Self.closed }
        var problems = try Self.damage(to: "file") { try Self.integrity(connection) }
        let catalog = CatalogCheck(connection)
        problems += try Self.damage(to: "file") { try catalog.problems() }
        let names = try catalog.collectionNames()
        problems += try Self.damage(to: "file") {
          try DefinitionCheck(connection, collections: names).problems()
        }
        problems += try Self.damage(to: BlobSchema.table) {
          try ChunkCheck(connection).problems()
        }
        for name in names {
          problems += try Self.damage(to: name) { try CollectionCheck(connection, name).problems() }
        }
        // Several checks can find the same damage.
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

  /// Reports an item that is too damaged to be checked as a problem, so that it does not hide the others.
  static func damage(
    to subject: String, _ check: () throws -> [VerificationProblem]
  ) throws -> [VerificationProblem] {
    do { return try check() } catch let error as StoreError where error.isDamage {
      return [VerificationProblem(subject: subject, message: error.debugDescription)]
    }
  }
}

extension StoreError {
  /// Whether the error indicates damage, rather than a lock or a disk problem.
  fileprivate var isDamage: Bool {
    [.corruptFile, .corruptDocument, .notADatabase, .database, .documentTooLarge].contains(code)
  }
}
