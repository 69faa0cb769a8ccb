// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Code on the NanoStore page")
struct NanoStoreSnippets {
  @Test("The code runs") func code() async throws {
    let store = try Store(.memory)
    let people = store["people"]
    try await people.save(["name": "Ada", "emails": ["ada@example.org"], "born": 1815], key: "ada")
    try await people.save(
      ["name": "Grace", "address": ["country": "US"], "born": 1906], key: "grace")

    let american = try await people.find(Field("address.country") == "US").sorted(by: "name")
      .fetch()
    let early = try await people.find("[born] < ? AND EXISTS([emails])", 1850).keys()  // ["ada"]
    #expect(american.map(\.key) == ["grace"])
    #expect(early == ["ada"])
  }
}
