// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

@Suite struct AttachmentMergeTests {
  private func replicate(_ a: SyncDatabase, _ b: SyncDatabase) async throws -> SyncStatus {
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), ReplicationOptions(), report: status.change).run()
    return status.value
  }

  /// Attaches a text in a revision of its own.
  private func attach(_ text: String, _ name: String, to database: SyncDatabase) async throws {
    try await database.collection.attach(.data(Data(text.utf8)), named: name, to: "x")
    try database.catchUp()
  }

  @Test(arguments: [0, 5])
  func `A merge keeps what one side did to attachments, whichever side wins`(
    _ otherEdits: Int
  ) async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    for name in ["kept", "removed", "replaced"] { try await attach("old", name, to: a) }
    _ = try await replicate(a, b)
    try await attach("new", "replaced", to: a)
    try await a.collection.attachments(of: "x").remove("removed")
    try await attach("b", "added", to: b)
    for edit in 0..<otherEdits {
      try await b.collection.update("x", set: ["m": .int(Int64(edit))])
      try b.catchUp()
    }

    let status = try await replicate(a, b)

    #expect(status.resolved == 1)
    #expect(status.overridden.isEmpty)
    for database in [a, b] {
      let attachments = database.collection.attachments(of: "x")
      #expect(try await attachments.all().map(\.name).sorted() == ["added", "kept", "replaced"])
      #expect(try await attachments.data("replaced") == Data("new".utf8))
    }
    #expect(try a.contents() == b.contents())
    // Peers take attachments of former generations from the revision that was merged into.
    let merged = try #require(try a.revisions(["x"])["x"]?.winner)
    let taken = merged.attachments.first { $0.name == (otherEdits == 0 ? "added" : "replaced") }
    #expect(taken?.generation == merged.revision.generation)
  }

  @Test func `An attachment that both sides replaced is the winner's, and is reported`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    try await attach("old", "a", to: a)
    _ = try await replicate(a, b)
    try await attach("mine", "a", to: a)
    try await attach("theirs", "a", to: b)
    try await b.collection.update("x", set: ["m": 1])

    let status = try await replicate(a, b)

    #expect(status.overridden.map(\.fields) == [["_attachments.a"]])
    for database in [a, b] {
      let attachments = database.collection.attachments(of: "x")
      #expect(try await attachments.data("a") == Data("theirs".utf8))
    }
  }
}
