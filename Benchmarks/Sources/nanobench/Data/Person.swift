// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

/// The document of every scenario: strings, numbers, an array, a nested object and a date in about 250 bytes of JSON.
@Model(collection: "people")
struct Person: Codable, Equatable, Sendable {
  @Field("FirstName") var firstName: String
  @Field("LastName") var lastName: String
  @Field("Age") var age: Int
  @Field("City") var city: String
  @Field("Salary") var salary: Double
  @Field("Emails") var emails: [String]
  @Field("Address") var address: Address
  @Field("Joined") var joined: Date

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

@Model
struct Address: Codable, Equatable, Sendable {
  @Field("Street") var street: String
  @Field("Zip") var zip: String
  @Field("Country") var country: String

  enum CodingKeys: String, CodingKey {
    case street = "Street"
    case zip = "Zip"
    case country = "Country"
  }
}
