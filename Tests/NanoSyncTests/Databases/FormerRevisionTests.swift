// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import Testing

/// The content of revisions that have been replaced.
@Suite struct FormerRevisionTests {
  @Test(arguments: ["x", "_design/x"])
  func `The 16 newest former versions keep their fields, and none its attachments`(
    _ id: String
  ) async throws {
    let database = try anyDatabase()
    var revisions: [RevisionID] = []
    for n in 0..<20 as Range<Int64> {
      let content = try await database.store.addAttachment(
        .data(Data("\(n)".utf8)), contentType: "text/plain")
      let attachment = SyncAttachment(
        name: "a", contentType: "text/plain", generation: 0, digest: "md5-\(n)",
        length: content.length, content: content)
      let edit = DocumentEdit(
        id: id, parent: revisions.last, body: ["n": .int(n)], attachments: [attachment])
      revisions.append(try database.edit([edit])[0].get())
    }

    let found = try #require(try database.revisions([id])[id])

    let kept = revisions.filter { found[$0] != nil }
    let attached = revisions.filter { found[$0]?.attachments.first?.content != nil }
    #expect(kept == Array(revisions.suffix(17)))
    #expect(attached == Array(revisions.suffix(1)))
  }

  @Test func `A losing branch keeps the content of its leaf and of the 16 versions before`() throws
  {
    let database = try anyDatabase()
    try database.replicate(json: #"{"_id":"x","_rev":"60-\#(hash("f"))","n":0}"#)
    for generation in 1...20 {
      let ids = (1...generation).reversed().map { "\"r\($0)\"" }.joined(separator: ",")
      try database.replicate(
        json: """
          {"_id":"x","_rev":"\(generation)-r\(generation)",\
          "_revisions":{"start":\(generation),"ids":[\(ids)]},"n":\(generation)}
          """)
    }

    let found = try #require(try database.revisions(["x"])["x"])

    let kept = (1...20).filter { n in RevisionID("\(n)-r\(n)").flatMap { found[$0] } != nil }
    #expect(kept == Array(4...20))
    #expect(found.leaves.count == 2)
  }

  @Test(arguments: [true, false])
  func
    `A former version that is too deep for the record is dropped, and keeps nothing from syncing`(
      isApplication: Bool
    ) throws
  {
    let database = try anyDatabase()
    // With the document, as many levels as a document may have.
    var value = DocumentValue.int(1)
    for _ in 0..<511 { value = .array([value]) }
    let deep = DocumentEdit(id: "x", parent: nil, body: ["v": value])
    let first = try database.edit([deep])[0].get()
    try database.collection.save(["n": 1], key: "y")

    if isApplication {
      try database.collection.save(["n": 1], key: "x")
    } else {
      _ = try database.edit([DocumentEdit(id: "x", parent: first, body: ["n": 1])])[0].get()
    }

    let found = try #require(try database.revisions(["x"])["x"])
    #expect(found.winner?.body == ["n": 1])
    #expect(found.winner?.revision.generation == 2)
    #expect(found[first] == nil)
    #expect(try database.revision("y") != nil)
  }

  @Test func `A version that is too deep for the record can be deleted`() throws {
    let database = try anyDatabase()
    var value = DocumentValue.int(1)
    for _ in 0..<511 { value = .array([value]) }
    let deep = DocumentEdit(id: "x", parent: nil, body: ["v": value])
    let first = try database.edit([deep])[0].get()

    _ = try database.edit([DocumentEdit(id: "x", parent: first, isDeleted: true)])[0].get()

    #expect(try database.collection.get("x") == nil)
  }
}
