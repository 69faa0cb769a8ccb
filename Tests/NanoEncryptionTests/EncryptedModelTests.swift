// SPDX-License-Identifier: MIT

import NanoStoreEncryption
import NanoStoreModels
import NanoTestSupport
import Testing

@Model struct RankedMember {
  @Key var id: String
  @Indexed var team: String
  @Indexed var rank = 5
}

@Suite("Models in encrypted stores")
struct EncryptedModelTests {
  @Test("A live query sorted by a property with a default decrypts only documents that can match")
  @MainActor func liveOrder() throws {
    let file = try SealedFile()
    let store = try file.open(.test(indexes: .blind))
    try store[RankedMember.self].insert([
      RankedMember(id: "ada", team: "x", rank: 2), RankedMember(id: "bo", team: "y"),
      RankedMember(id: "cy", team: "x", rank: 1),
    ])
    try store.close()
    // Reading this document is an error.
    try file.setBody(2, #"{"$sealed":""}"#, in: "RankedMember")
    let members = try file.open(.test(indexes: .blind))[RankedMember.self]
    #expect(code { _ = try members.fetch() } == .corruptDocument)

    let results = LiveResults(
      members.find(\.team == "x").sorted(by: \.rank), loading: .immediately)

    #expect(results.error == nil)
    #expect(results.elements.map(\.id) == ["cy", "ada"])
  }
}
