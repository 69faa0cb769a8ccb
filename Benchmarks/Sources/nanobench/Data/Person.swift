// SPDX-License-Identifier: MIT

import Foundation

/// The document of every scenario: strings, numbers, an array, a nested object and a date in
/// about 250 bytes of JSON.
struct Person: Codable, Equatable, Sendable {
  var firstName: String
  var lastName: String
  var age: Int
  var city: String
  var salary: Double
  var emails: [String]
  var address: Address
  var joined: Date

  enum CodingKeys: String, CodingKey {
    case firstName = "FirstName"
    case lastName = "LastName"
    case age = "Age"
    case city = "City"
    case salary = "Salary"
    case emails = "Emails"
    case address = "Address"
    case joined = "Joined"
  }
}

struct Address: Codable, Equatable, Sendable {
  var street: String
  var zip: String
  var country: String

  enum CodingKeys: String, CodingKey {
    case street = "Street"
    case zip = "Zip"
    case country = "Country"
  }
}
