// SPDX-License-Identifier: MIT

import Foundation
import GRDB

/// A GRDB record of a person, with its queries as an application writes them.
protocol StoredPerson: FetchableRecord, PersistableRecord, Sendable {
  init(id: UUID, _ person: Person)
  var age: Int { get }
  var salary: Double { get }

  static func createTable(_ db: Database) throws

  static func get(_ db: Database, _ id: UUID) throws -> Self?
  static func find(_ db: Database, lastName: String) throws -> [Self]
  static func find(_ db: Database, ages: Range<Int>) throws -> [Self]
  static func count(_ db: Database, lastName: String) throws -> Int
  static func lowestSalaries(_ db: Database, limit: Int) throws -> [Self]
  static func averageSalary(_ db: Database) throws -> Double?
  static func setSalary(_ db: Database, of id: UUID, to salary: Double) throws

  /// Finds people in the table `part`, which has the same columns.
  static func findInPart(_ db: Database, lastName: String) throws -> [Self]
}

extension StoredPerson {
  static var databaseTableName: String { "person" }
}
