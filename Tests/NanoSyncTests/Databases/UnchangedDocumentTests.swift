// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import NanoStoreEncryption
import NanoSync
import NanoTestSupport
import Testing

/// Writes that leave the content of a document as it was.
@Suite struct UnchangedDocumentTests {
  private func replicate(_ a: SyncDatabase, _ b: SyncDatabase) async throws -> SyncStatus {
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), ReplicationOptions(), report: status.change).run()
    return status.value
  }

  private func encrypted() throws -> SyncDatabase {
    let cost = ScryptCost(rounds: 2, blockSize: 1, parallelism: 1)
    let encryption = Encryption(.passphrase("p"), indexes: .blind, cost: cost)
    let database = try SyncDatabase(Store(.memory, encryption: encryption)["films"])
    try database.enable()
    return database
  }

  @Test func `A document that has its former content again gets no revision`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1, "m": 2], key: "x")
    _ = try await replicate(a, b)
    let before = try a.revision("x")

    try await a.collection.update("x", set: ["n": 2])
    try await a.collection.update("x", set: ["n": 1])
    #expect(try a.revision("x") == before)
    #expect(try await replicate(a, b).pushed == 0)

    try await a.collection.save(["m": 2, "n": 1], key: "x")
    #expect(try a.revision("x") != before)
    _ = try await replicate(a, b)
    #expect(try a.contents() == b.contents())
  }

  @Test(arguments: ["rotate", "index"])
  func `Encryption with another key does not undo what another store deleted or changed`(
    _ operation: String
  ) async throws {
    let (a, b) = (try anyDatabase(), try encrypted())
    for key in ["deleted", "changed", "edited"] { try await a.collection.save(["v": 1], key: key) }
    _ = try await replicate(a, b)

    if operation == "rotate" {
      try await b.store.rotateKeys()
    } else {
      try await b.collection.createIndex("v")
    }
    try await b.collection.update("edited", set: ["w": 1])
    try await a.collection.delete("deleted")
    try await a.collection.update("changed", set: ["v": 2])
    let status = try await replicate(a, b)

    #expect(status.overridden.isEmpty)
    for database in [a, b] {
      #expect(try await database.collection.get("deleted") == nil)
      #expect(try await database.collection.get("changed")?["v"] == 2)
      #expect(try await database.collection.get("edited")?["w"] == 1)
    }
    #expect(try a.contents() == b.contents())
    #expect(try await replicate(a, b).pushed == 0)
  }
}
