// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Code in docs/COMING-FROM-NTJSONSTORE.md", .sqlite)
struct ComingFromNTJsonStoreTests {
  @Test("The guide's code runs as one program") func code() async throws {
    let scratch = try Scratch()
    let folder = scratch.path
    try await basicCalls(folder)
    let store = try Store(.file(folder + "/library.db"))
    let users = store["users"]
    users.enqueue { try $0.insert(["name": "first"]) }
    users.enqueue { try $0.insert(["name": "second"]) }
    let count = try await users.count()
    #expect(count == 4)
    let call = users.enqueue(completingOn: .inLine) { users in
      try users.find("[age] > 30").delete()
    } completion: { result in
      print(result)
    }
    let removed = try await call.value
    #expect(removed == 1)
    let isDone = try await store.finishQueued(["users"], within: .seconds(5))
    #expect(isDone)
    try await store.write {
      try users.insert(["name": "Alan"])
      try store["log"].insert(["what": "a user more"])
    }
    #expect(try await users.count() == 4)
  }

  private func basicCalls(_ folder: String) async throws {
    let store = try Store(.file(folder + "/library.db"))
    let users = try await store.createCollection("users", identity: .rowID)
    let ada = try await users.insert(["name": "Ada", "address": ["country": "GB"], "age": 36])
    let rowID = ada["__rowid__"]
    try await users.insert([["name": "Grace", "age": 30], ["name": "Linus", "age": 20]])
    try await users.replace(Document(["__rowid__": 3, "name": "Linus", "age": 21]))
    try await users.delete(rowID: 3)
    #expect(rowID == 1)
    #expect(try await users.count() == 2)

    let found = try await users.find("[address.country] = ? AND [age] > ?", "GB", 30)
      .sorted(byText: "[name], [age] DESC").limit(10).fetch()
    let one = try await users.find("[name] = ?", "Grace").first()
    let british = try await users.find("[address.country] = 'GB'").count()
    let columns = try await users.find("[active] = 1 OR NOT [age] = 30").fieldsAsColumns().count()
    #expect(found.map(\.rowID) == [1])
    #expect(one?["age"] == 30)
    #expect(british == 1)
    #expect(columns == 1)

    try await users.createIndex(keys: "[name], [age] DESC")
    try await users.createIndex(keys: "[email]", unique: true)
    try await users.setDefaults(["active": true])
    try await users.setAliases(["country": "[address.country]"])
    try await users.addQueryableFields("country")
    let active = try await users.find("[active] AND country IS NOT NULL").count()
    #expect(active == 1)

    users.cacheSize = 50
    let cached = try await users.find("[name] = ?", "Ada").first()!
    let same = try await users.get(rowID: 1)!.hasSameStorage(as: cached)
    let isCurrent = await store.isCurrent(cached)
    users.flushCache()
    #expect(same)
    #expect(isCurrent)

    try await store.setMetadata(["theme": "dark"], "settings")
    let settings = try await store.metadata("settings")
    #expect(settings == ["theme": "dark"])
    let json = #"{"storeName": "other.db", "collections": {"users": {"indexes": "[name]"}}}"#
    var setup = try StoreSetup(DocumentObject(json: json))
    setup.path = folder
    let other = try Store(setup)
    #expect(try await other["users"].indexes().map(\.keys) == ["[name]"])
    try other.close()
    try store.close()
  }

  @Test("The guide contains the code that runs above") func guideMatches() throws {
    try expectCode(ofGuide: "COMING-FROM-NTJSONSTORE.md")
  }
}
