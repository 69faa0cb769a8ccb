// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import Testing

@Suite("Code on the NanoStoreModels page")
struct NanoStoreModelsSnippets {
  @Model struct Person {
    var firstName: String
    @Indexed var lastName: String
    var emails: [String] = []
  }

  @Test("The code runs") func code() async throws {
    let store = try Store(.memory)
    let people = store[Person.self]
    try await people.insert(Person(firstName: "Grace", lastName: "Hopper"))

    var grace = try await people.find(\.lastName == "Hopper").firstStored()!
    grace.emails.append("grace@example.org")
    try await people.save(grace)

    let reachable = try await people.find { !$0.emails.isEmpty }.sorted(by: \.firstName).fetch()
    print(reachable.map(\.firstName))  // ["Grace"]
    #expect(reachable.map(\.firstName) == ["Grace"])
  }
}
