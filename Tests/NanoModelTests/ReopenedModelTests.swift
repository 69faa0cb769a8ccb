// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Model private struct Member {
  @Unique var email: String
}

@Suite("Models in a reopened store")
struct ReopenedModelTests {
  @Test("A unique property is unique also after an in-memory store was reopened")
  func unique() throws {
    let store = try Store(.memory)
    let member = Member(email: "a@example.org")
    try store[Member.self].insert(member)
    try store.close()
    try store.reopen()

    try store[Member.self].insert(member)

    let error = #expect(throws: StoreError.self) { try store[Member.self].insert(member) }
    #expect(error?.code == .uniqueViolation)
  }
}
