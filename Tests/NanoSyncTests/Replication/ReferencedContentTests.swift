// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

/// Content to which fields other than `_attachments` refer, as properties of type `Attachment` do.
@Suite struct ReferencedContentTests {
  private func replicate(_ a: SyncDatabase, _ b: SyncDatabase) async throws -> SyncStatus {
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), ReplicationOptions(), report: status.change).run()
    return status.value
  }

  private func add(_ text: String, to database: SyncDatabase) async throws -> DocumentValue {
    try await database.store.addAttachment(.data(Data(text.utf8)), contentType: "text/plain")
      .documentValue
  }

  private func text(_ path: String, of database: SyncDatabase) async throws -> String? {
    let value = try await database.collection.get("x")?[path]
    guard let reference = value.flatMap(NanoStore.Attachment.init) else { return nil }
    return String(decoding: try await database.store.data(of: reference), as: UTF8.self)
  }

  @Test func `The content arrives with the document, whose fields stay the same`() async throws {
    let (a, b, c) = (try anyDatabase(), try anyDatabase(), try anyDatabase())
    let image = try await add("image", to: a)
    let document: DocumentObject = [
      "image": image, "pages": [["scan": try await add("scan", to: a)], ["scan": image]],
    ]
    try await a.collection.save(document, key: "x")
    try await a.collection.attach(.data(Data("named".utf8)), named: "n", to: "x")

    #expect(try await replicate(a, b).failures.isEmpty)
    #expect(try await replicate(b, c).failures.isEmpty)

    for database in [b, c] {
      #expect(try await text("image", of: database) == "image")
      #expect(try await text("pages.0.scan", of: database) == "scan")
      #expect(
        try await database.collection.get("x")?.object()
          == a.collection.get("x")?.object())
      #expect(try await database.collection.attachments(of: "x").all().map(\.name) == ["n"])
      #expect(try await database.store.verify().isEmpty)
      #expect(try a.contents() == database.contents())
    }
    // Nothing is left to do.
    #expect(try await replicate(a, c).pushed == 0)
  }

  @Test func `Content that an edit removes is not transferred again`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["image": try await add("old", to: a)], key: "x")
    _ = try await replicate(a, b)
    let new = try await add("new", to: b)
    try await b.collection.update("x", set: ["image": new])

    _ = try await replicate(a, b)

    #expect(try await text("image", of: a) == "new")
    let winner = try #require(try a.revisions(["x"])["x"]?.winner)
    #expect(winner.attachments.count == 1)
    #expect(try a.contents() == b.contents())
  }

  @Test(arguments: [0, 3])
  func `A conflict keeps the content of the version that was chosen for each field`(
    _ otherEdits: Int
  ) async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    _ = try await replicate(a, b)
    try await a.collection.update("x", set: ["image": try await add("a", to: a)])
    let scan = try await add("scan", to: b)
    try await b.collection.update("x", set: ["image": try await add("b", to: b), "scan": scan])
    for edit in 0..<otherEdits {
      try b.catchUp()
      try await b.collection.update("x", set: ["m": .int(Int64(edit))])
    }

    let status = try await replicate(a, b)

    #expect(status.overridden.map(\.fields) == [["image"]])
    let image = try #require(try await text("image", of: a))
    for database in [a, b] {
      #expect(try await text("image", of: database) == image)
      #expect(try await text("scan", of: database) == "scan")
      #expect(try await database.collection.attachments(of: "x").all().isEmpty)
      #expect(try await database.store.verify().isEmpty)
    }
    #expect(try a.contents() == b.contents())
    #expect(try a.revisions(["x"])["x"]?.winner?.attachments.count == 2)
  }

  @Test func `A closure that chooses the other version keeps its content`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    _ = try await replicate(a, b)
    try await a.collection.update("x", set: ["image": try await add("a", to: a)])
    try await b.collection.update("x", set: ["image": try await add("b", to: b)])
    var options = ReplicationOptions()
    options.rules.resolve = { .object($0.isMineWinning ? $0.theirs : $0.mine) }
    let loser = try await losingImage(a, b)

    try await Replication(a, with: LocalPeer(b), options, report: { _ in }).run()

    for database in [a, b] { #expect(try await text("image", of: database) == loser) }
    #expect(try a.contents() == b.contents())
  }

  /// The text that loses without a rule, in copies of both stores.
  private func losingImage(_ a: SyncDatabase, _ b: SyncDatabase) async throws -> String {
    try a.catchUp()
    try b.catchUp()
    let (mine, theirs) = (try a.revisions(["x"])["x"]?.winner, try b.revisions(["x"])["x"]?.winner)
    return try #require(mine).revision < #require(theirs).revision ? "a" : "b"
  }

  @Test func `Fields beside a digest are merged, and content of one version keeps its length`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    var image = try #require(try await add("image", to: a).object)
    image["caption"] = "old"
    image["preview"] = try await add("preview", to: a)
    try await a.collection.save(["image": .object(image)], key: "x")
    _ = try await replicate(a, b)
    #expect(try await text("image.preview", of: b) == "preview")
    try await a.collection.update("x", set: ["image.caption": "new"])
    try await b.collection.update("x", set: ["image.rating": 5])

    let status = try await replicate(a, b)

    #expect(status.overridden.isEmpty)
    for database in [a, b] {
      #expect(try await database.collection.get("x")?["image.caption"] == "new")
      #expect(try await database.collection.get("x")?["image.rating"] == 5)
      #expect(try await text("image", of: database) == "image")
    }
    #expect(try a.contents() == b.contents())
  }

  @Test func `A reference to content that the store lacks is transferred without it`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    let reference = try await anyStore().addAttachment(.data(Data("gone".utf8)))
    try await a.collection.save(["image": reference.documentValue], key: "x")

    #expect(try await replicate(a, b).failures.isEmpty)

    #expect(try await b.collection.get("x")?["image"] == reference.documentValue)
    #expect(try await b.store.verify().count == 1)
  }
}
