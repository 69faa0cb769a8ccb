// SPDX-License-Identifier: MIT

import Foundation
import GRDB

/// The fastest GRDB record that its manual describes: without `Codable`, columns are read by index, every field is a
/// real column, a date is a number, and queries are cached statements.
struct PersonRow: StoredPerson {
  var id: UUID
  var firstName: String
  var lastName: String
  var age: Int
  var city: String
  var salary: Double
  var emails: [String]
  var street: String
  var zip: String
  var country: String
  var joined: Date

  init(id: UUID, _ person: Person) {
    self.id = id
    firstName = person.firstName
    lastName = person.lastName
    age = person.age
    city = person.city
    salary = person.salary
    emails = person.emails
    street = person.address.street
    zip = person.address.zip
    country = person.address.country
    joined = person.joined
  }

  // The indexes are those of the table's columns.
  init(row: Row) {
    id = row[0]
    firstName = row[1]
    lastName = row[2]
    age = row[3]
    city = row[4]
    salary = row[5]
    emails = (row[6] as String).split(separator: "\n").map(String.init)
    street = row[7]
    zip = row[8]
    country = row[9]
    joined = Date(timeIntervalSinceReferenceDate: row[10])
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["firstName"] = firstName
    container["lastName"] = lastName
    container["age"] = age
    container["city"] = city
    container["salary"] = salary
    container["emails"] = emails.joined(separator: "\n")
    container["street"] = street
    container["zip"] = zip
    container["country"] = country
    container["joined"] = joined.timeIntervalSinceReferenceDate
  }
}

extension PersonRow {
  static func createTable(_ db: Database) throws {
    try db.create(table: databaseTableName) { table in
      table.primaryKey("id", .blob)
      table.column("firstName", .text).notNull()
      table.column("lastName", .text).notNull()
      table.column("age", .integer).notNull()
      table.column("city", .text).notNull()
      table.column("salary", .double).notNull()
      table.column("emails", .text).notNull()
      table.column("street", .text).notNull()
      table.column("zip", .text).notNull()
      table.column("country", .text).notNull()
      table.column("joined", .double).notNull()
    }
  }

  static func get(_ db: Database, _ id: UUID) throws -> PersonRow? {
    let select = try db.cachedStatement(sql: "SELECT * FROM person WHERE id = ?")
    return try fetchOne(select, arguments: [id])
  }

  static func find(_ db: Database, lastName: String) throws -> [PersonRow] {
    let select = try db.cachedStatement(sql: "SELECT * FROM person WHERE lastName = ?")
    return try fetchAll(select, arguments: [lastName])
  }

  static func find(_ db: Database, ages: Range<Int>) throws -> [PersonRow] {
    let select = try db.cachedStatement(sql: "SELECT * FROM person WHERE age >= ? AND age < ?")
    return try fetchAll(select, arguments: [ages.lowerBound, ages.upperBound])
  }

  static func count(_ db: Database, lastName: String) throws -> Int {
    let select = try db.cachedStatement(sql: "SELECT count(*) FROM person WHERE lastName = ?")
    return try Int.fetchOne(select, arguments: [lastName]) ?? 0
  }

  static func lowestSalaries(_ db: Database, limit: Int) throws -> [PersonRow] {
    let select = try db.cachedStatement(
      sql: "SELECT * FROM person ORDER BY salary, rowid LIMIT ?")
    return try fetchAll(select, arguments: [limit])
  }

  static func averageSalary(_ db: Database) throws -> Double? {
    try Double.fetchOne(db.cachedStatement(sql: "SELECT avg(salary) FROM person"))
  }

  static func setSalary(_ db: Database, of id: UUID, to salary: Double) throws {
    let update = try db.cachedStatement(sql: "UPDATE person SET salary = ? WHERE id = ?")
    try update.execute(arguments: [salary, id])
  }

  static func findInPart(_ db: Database, lastName: String) throws -> [PersonRow] {
    let select = try db.cachedStatement(sql: "SELECT * FROM part WHERE lastName = ?")
    return try fetchAll(select, arguments: [lastName])
  }
}
