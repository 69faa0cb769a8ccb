// SPDX-License-Identifier: MIT

import Foundation
import GRDB

/// An idiomatic GRDB record: a column for each field, and JSON columns for the array and the nested object, encoded
/// by GRDB.
struct PersonRecord: Codable, Identifiable, StoredPerson {
  var id: UUID
  var firstName: String
  var lastName: String
  var age: Int
  var city: String
  var salary: Double
  var emails: [String]
  var address: Address
  var joined: Date

  init(id: UUID, _ person: Person) {
    self.id = id
    firstName = person.firstName
    lastName = person.lastName
    age = person.age
    city = person.city
    salary = person.salary
    emails = person.emails
    address = person.address
    joined = person.joined
  }

  enum Columns {
    static let lastName = Column("lastName")
    static let age = Column("age")
    static let salary = Column("salary")
  }
}

extension PersonRecord {
  static func createTable(_ db: Database) throws {
    // Two B-trees, for rows and keys, as in the table of raw SQLite.
    try db.create(table: databaseTableName) { table in
      table.primaryKey("id", .blob)
      table.column("firstName", .text).notNull()
      table.column("lastName", .text).notNull()
      table.column("age", .integer).notNull()
      table.column("city", .text).notNull()
      table.column("salary", .double).notNull()
      table.column("emails", .jsonText).notNull()
      table.column("address", .jsonText).notNull()
      table.column("joined", .datetime).notNull()
    }
  }

  static func get(_ db: Database, _ id: UUID) throws -> PersonRecord? {
    try fetchOne(db, id: id)
  }

  static func find(_ db: Database, lastName: String) throws -> [PersonRecord] {
    try filter(Columns.lastName == lastName).fetchAll(db)
  }

  static func find(_ db: Database, ages: Range<Int>) throws -> [PersonRecord] {
    try filter(Columns.age >= ages.lowerBound && Columns.age < ages.upperBound).fetchAll(db)
  }

  static func count(_ db: Database, lastName: String) throws -> Int {
    try filter(Columns.lastName == lastName).fetchCount(db)
  }

  static func lowestSalaries(_ db: Database, limit: Int) throws -> [PersonRecord] {
    try order(Columns.salary, Column.rowID).limit(limit).fetchAll(db)
  }

  static func averageSalary(_ db: Database) throws -> Double? {
    try select(average(Columns.salary), as: Double.self).fetchOne(db)
  }

  static func setSalary(_ db: Database, of id: UUID, to salary: Double) throws {
    try filter(id: id).updateAll(db, Columns.salary.set(to: salary))
  }

  static func findInPart(_ db: Database, lastName: String) throws -> [PersonRecord] {
    try Table<PersonRecord>("part").filter(Columns.lastName == lastName).fetchAll(db)
  }
}
