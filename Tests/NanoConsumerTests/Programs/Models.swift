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

func models() throws {
  let store = try Store(.file("team.db"))
  let team = store[Person.self]
  try team.insert([
    Person(id: "ada", firstName: "Ada", lastName: "Lovelace", address: Address(city: "London")),
    Person(id: "grace", firstName: "Grace", lastName: "Hopper", emails: ["grace@example.org"]),
  ])

  let british = try team.find(\.address?.country == "UK").sorted(by: \.lastName).fetch()
  print("British:", british.map(\.firstName))
  let reachable = try team.find { !$0.emails.isEmpty && $0.lastName.hasPrefix("Ho") }.count()
  print("Reachable:", reachable)
}

func modelsWithAwait() async throws {
  let store = try Store(.file("team.db"))
  let team = store[Person.self]
  try await team.insert([
    Person(id: "grace", firstName: "Grace", lastName: "Hopper", emails: ["grace@example.org"])
  ])
  let british = try await team.find(\.address?.country == "UK").sorted(by: \.lastName).fetch()
  print("British:", british.map(\.firstName))

  for try await hoppers in team.find(\.lastName == "Hopper").sorted(by: \.firstName).updates() {
    print("Hoppers:", hoppers.map(\.firstName))
    guard hoppers.count == 1 else { break }
    try await team.insert(Person(id: "mary", firstName: "Mary", lastName: "Hopper"))
  }
}
