// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

/// Documents with attachments whose content the store lacks, or cannot identify.
@Suite struct MissingAttachmentTests {
  private static let content = Data("hello".utf8)

  /// A reference to content that no store of the test has.
  private static func reference() async throws -> NanoStore.Attachment {
    try await anyStore().addAttachment(.data(content), contentType: "text/plain")
  }

  private func replicate(_ a: SyncDatabase, _ b: SyncDatabase) async throws -> SyncStatus {
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), ReplicationOptions(), report: status.change).run()
    return status.value
  }

  @Test func `A digest of another program is a problem of its document only`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    let entry: DocumentValue = [
      "digest": "md5-XUFAKrxLKna5cZ2REBfFkg==", "length": 5, "stub": true,
    ]
    try await a.collection.save(["_attachments": ["a": entry]], key: "x")
    try await a.collection.save(["n": 1], key: "y")

    let status = try await replicate(a, b)

    #expect(status.failures.map(\.key) == ["x"])
    #expect(try a.problems().ids == ["x"])
    #expect(try a.revision("y")?.hasPrefix("1-") == true)
    #expect(try await b.collection.find().keys() == ["y"])
  }

  @Test(arguments: [false, true])
  func `A document without its content stops no others, and follows when the content is there`(
    isPulled: Bool
  ) async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    func sync() async throws -> SyncStatus {
      isPulled ? try await replicate(b, a) : try await replicate(a, b)
    }
    let reference = try await Self.reference()
    let document: DocumentObject = ["_attachments": ["a": reference.documentValue]]
    try await a.collection.save(document, key: "x")
    try await a.collection.save(["n": 1], key: "y")

    #expect(try await sync().failures.map(\.key) == ["x"])
    #expect(try await b.collection.find().keys() == ["y"])

    _ = try await a.store.addAttachment(.data(Self.content), contentType: "text/plain")
    try await a.collection.save(document, key: "x")
    #expect(try await sync().failures.isEmpty)
    #expect(try await b.collection.attachments(of: "x").data("a") == Self.content)
    #expect(try a.contents() == b.contents())
  }

  @Test(arguments: [false, true])
  func `Damaged content is a failure of its document only`(isPulled: Bool) async throws {
    let scratch = try Scratch()
    let a = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try a.enable()
    let b = try anyDatabase()
    try await a.collection.save(["n": 1], key: "x")
    let content = Data(repeating: 7, count: 600_000)
    try await a.collection.attach(.data(content), named: "a", to: "x")
    try await a.collection.save(["n": 1], key: "y")
    try a.catchUp()

    try scratch.shell(
      "a.db",
      "UPDATE nano_chunks SET bytes = zeroblob(length(bytes)) WHERE id & 1048575 = 1")
    let status = isPulled ? try await replicate(b, a) : try await replicate(a, b)

    #expect(status.failures.map(\.key) == ["x"])
    #expect(try await b.collection.find().keys() == ["y"])
  }

  @Test(arguments: [0, 3, 9] as [Int64])
  func `Content that arrives later has its own length, whichever the document states`(
    _ length: Int64
  ) async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    var reference = try await Self.reference()
    reference.length = length
    try await a.collection.save(["_attachments": ["a": reference.documentValue]], key: "x")
    try a.catchUp()
    _ = try await a.store.addAttachment(.data(Self.content), contentType: "text/plain")

    let status = try await replicate(a, b)

    #expect(status.failures.isEmpty)
    #expect(try await b.collection.attachments(of: "x").all().map(\.attachment.length) == [5])
    #expect(try await b.collection.attachments(of: "x").data("a") == Self.content)
  }

  @Test func `A revision whose content was removed before it is stored fails until it is there`()
    async throws
  {
    let database = try anyDatabase()
    let attachment = SyncAttachment(
      name: "a", contentType: "text/plain", generation: 1,
      digest: "md5-XUFAKrxLKna5cZ2REBfFkg==", length: 5, content: try await Self.reference())
    let document = SyncDocument(
      id: "x", revision: try #require(RevisionID("1-a")), attachments: [attachment])
    let edit = DocumentEdit(id: "y", parent: nil, body: ["n": 1], attachments: [attachment])

    #expect(try database.replicate([document]).map(\.id) == ["x"])
    #expect(throws: StoreError.self) { try database.edit([edit])[0].get() }
    #expect(try await database.collection.count() == 0)

    _ = try await database.store.addAttachment(.data(Self.content), contentType: "text/plain")
    #expect(try database.replicate([document]).isEmpty)
    _ = try database.edit([edit])[0].get()
    for key in ["x", "y"] {
      #expect(try await database.collection.attachments(of: key).data("a") == Self.content)
    }
  }

  @Test func `A stored record with an impossible length keeps its attachment`() async throws {
    let scratch = try Scratch()
    let database = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try database.enable()
    try await database.collection.save(["n": 1], key: "x")
    try await database.collection.attach(.data(Self.content), named: "a", to: "x")
    try database.catchUp()

    // Earlier versions stored any length.
    try scratch.shell(
      "a.db", "UPDATE nano_revisions_films SET body = json_set(body, '$.a[0].length', -1)")

    let attachment = try database.revisions(["x"])["x"]?.winner?.attachments.first
    #expect(attachment?.length == 5)
    #expect(attachment?.content?.length == 5)
  }
}
