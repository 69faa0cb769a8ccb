// SPDX-License-Identifier: MIT

import Foundation
import GRDB

/// An idiomatic GRDB record: a column for each field, and JSON columns for the array and the nested object, encoded
/// by GRDB.
struct PersonRecord: Codable, Identifiable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "person"

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
    static let salary = Column("salary")
  }
}
