// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

/// Databases whose names begin with the name of another one.
@Suite struct DatabaseNameTests {
  @Test(arguments: [false, true])
  func `Deleting a database keeps the state of one whose name begins with its name`(
    isCollectionDropped: Bool
  ) throws {
    let store = try anyStore()
    let (a, b) = (try SyncDatabase(store["a"]), try SyncDatabase(store["a/b"]))
    for database in [a, b] {
      try database.enable()
      try database.setLocal("checkpoint", ["n": 1])
      try database.setSecurity(["n": 1])
    }
    try b.collection.save(["n": 1], key: "x")
    let (uuid, revision) = (try b.uuid(), try b.revision("x"))

    if isCollectionDropped {
      try a.collection.drop()
    } else {
      #expect(try a.delete())
    }
    try a.enable()

    #expect(try b.isEnabled())
    #expect(try b.uuid() == uuid)
    #expect(try b.revision("x") == revision)
    #expect(try b.security() == ["n": 1])
    #expect(try b.local("checkpoint")?.body == ["n": 1])
    #expect(try a.security() == [:])
    #expect(try a.local("checkpoint") == nil)
  }

  @Test(arguments: [
    "a/security", "A/Security", "a/_local/b", "a/conflict/b", "a/_local", "a/conflict",
  ])
  func `A name that could be that of another database's state is refused`(
    _ name: String
  ) throws {
    let database = try SyncDatabase(anyStore()[name])

    #expect(throws: StoreError.self) { try database.enable() }
    #expect(try !database.isEnabled())
  }
}
