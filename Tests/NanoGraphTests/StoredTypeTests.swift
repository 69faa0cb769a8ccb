// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoStoreModels
import NanoTestSupport
import Testing

@testable import NanoGraph

@Model final class Renamed {
  var title = ""

  init(_ title: String = "") { self.title = title }
}

@Suite("Class names of documents that a context changes")
struct StoredTypeTests {
  private func check(_ store: Store) throws {
    // More than those after which the engine chooses the statement for many updates.
    let count = 40
    let stored = store[Renamed.collectionName]
    for number in 0..<count {
      try stored.write(.insert, key: DocumentKey("k\(number)"), type: "OldName", version: nil) {
        $0.object(["title": .string("\(number)")])
      }
    }
    func types() throws -> Set<String?> { Set(try stored.fetch().map(\.header.type)) }
    let context = ObjectContext(store, isLive: false)
    let all = try context.find(Renamed.self).fetch()
    #expect(all.count == count)

    for object in all { object.title += "!" }
    try context.save()
    all[0].title = "last"
    try context.save()

    #expect(try types() == ["OldName"])
    #expect(try stored.fetch().filter { $0["title"]?.string?.hasSuffix("!") == true }.count == 39)
    #expect(try store.verify().isEmpty)
  }

  @Test("They are kept")
  func kept() throws { try check(anyStore()) }

  @Test("They are kept in an encrypted store, in which they are sealed with the content", .sqlite)
  func encrypted() throws {
    let encryption = Encryption(.key(Data(repeating: 7, count: 32)))
    try check(Store(.memory, encryption: encryption))
  }
}
