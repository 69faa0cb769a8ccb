// SPDX-License-Identifier: MIT

import NanoStoreModels

@Model struct Person {
  @Key var id: String
  var firstName: String
  @Indexed var lastName: String
  var emails: [String] = []
  var address: Address?
}

@Model struct Address {
  var city: String
  var country = "UK"
}

func firstRelease() async throws {
  let store = try Store(.file("team.db"))
  let team = store[Person.self]
  try await team.insert([
    Person(id: "ada", firstName: "Ada", lastName: "Lovelace", address: Address(city: "London")),
    Person(id: "grace", firstName: "Grace", lastName: "Hopper", emails: ["grace@example.org"]),
  ])

  let british = try await team.find(\.address?.country == "UK").sorted(by: \.lastName).fetch()
  print("British:", british.map(\.firstName))
  let reachable = try await team.find { !$0.emails.isEmpty && $0.lastName.hasPrefix("Ho") }.count()
  print("Reachable:", reachable)

  // Change and save a value that was read, or update a property of one or many documents without reading them.
  var ada = try await team.find(\.firstName == "Ada").firstStored()!
  ada.emails.append("ada@example.org")
  try await team.save(ada)
  try await team.update("grace", .set(\.address, Address(city: "New York", country: "US")))
  print("Names:", try await team.find().distinct(\.lastName))

  // A live query returns its result, and a new result after each commit that changes it.
  for try await hoppers in team.find(\.lastName == "Hopper").sorted(by: \.firstName).updates() {
    print("Hoppers:", hoppers.map(\.firstName))
    guard hoppers.count == 1 else { break }
    try await team.insert(Person(id: "mary", firstName: "Mary", lastName: "Hopper"))
  }
  try store.close()
}

// A later release changes the type. The stored documents are unchanged and remain readable: new properties have
// defaults, renamed properties declare their former names, and an upgrade covers everything else.
enum Later {
  @Model(collection: "Person", version: 2)
  struct Person {
    @Key var id: String
    @Field(renamedFrom: "firstName") var givenName: String
    @Indexed var lastName: String
    var initials: String
    var isActive = true
    var emails: [String] = []

    static let upgrades = [
      ModelUpgrade(from: 1) { fields in
        let names = ["firstName", "lastName"].compactMap { fields[$0]?.string }
        fields["initials"] = .string(names.compactMap(\.first).map(String.init).joined())
      }
    ]
  }
}

func secondRelease() async throws {
  let reopened = try Store(.file("team.db"))
  let later = reopened[Later.Person.self]
  let grace = try await later.get("grace")!
  print("Later:", grace.givenName, grace.initials, grace.isActive)
  print("Kept:", try grace.unknownFields.jsonString())

  let upgraded = try await later.upgrade { print("Upgraded \($0.done) of \($0.total)") }
  print(try await later.find(\.initials == "MH" && \.isActive == true).count(), "of", upgraded)
  try reopened.close()
}

try await firstRelease()
try await secondRelease()
