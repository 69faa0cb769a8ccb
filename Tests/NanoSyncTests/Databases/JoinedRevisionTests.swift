// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import NanoSync
import Testing

/// Revisions that arrived without their history, which are roots of their own.
@Suite struct JoinedRevisionTests {
  @Test func `A deletion that another store has made, too, deletes the document`() throws {
    let database = try anyDatabase()
    let first = try database.edit([DocumentEdit(id: "x", parent: nil, body: ["n": 1])])[0].get()
    let deletion = RevisionID(parent: first, isDeleted: true, body: [:], attachments: [])
    try database.replicate(json: #"{"_id":"x","_rev":"\#(deletion)","_deleted":true}"#)
    #expect(try database.collection.get("x")?["n"] == 1)

    let edit = DocumentEdit(id: "x", parent: first, isDeleted: true)
    let result = try database.edit([edit])[0].get()

    #expect(result == deletion)
    #expect(try database.collection.get("x") == nil)
    #expect(try database.leaves("x") == ["\(deletion) deleted"])
  }

  @Test func `An edit that another store has made, too, ends the conflict`() throws {
    let database = try anyDatabase()
    let first = try database.edit([DocumentEdit(id: "x", parent: nil, body: ["n": 1])])[0].get()
    let second = RevisionID(parent: first, isDeleted: false, body: ["n": 2], attachments: [])
    try database.replicate(json: #"{"_id":"x","_rev":"\#(second)","n":2}"#)
    #expect(try database.conflictedIDs() == ["x"])

    let edit = DocumentEdit(id: "x", parent: first, body: ["n": 2])
    let result = try database.edit([edit])[0].get()

    #expect(result == second)
    #expect(try database.collection.get("x")?["n"] == 2)
    #expect(try database.leaves("x") == ["\(second)"])
    #expect(try database.conflictedIDs() == [])
  }

  @Test(arguments: [true, false])
  func `A decision that another store has made, too, resolves the conflict`(
    isDeletion: Bool
  ) throws {
    let database = try anyDatabase()
    let winner = try #require(RevisionID("1-\(hash("b"))"))
    let loser = try #require(RevisionID("1-\(hash("a"))"))
    try database.replicate(
      json: #"{"_id":"x","_rev":"\#(loser)","v":"a"}"#, #"{"_id":"x","_rev":"\#(winner)","v":"b"}"#)
    let deletion = RevisionID(
      parent: loser, isDeleted: true, body: ["$resolved": .string("\(winner)")], attachments: [])
    try database.replicate(
      json: #"{"_id":"x","_rev":"\#(deletion)","_deleted":true,"$resolved":"\#(winner)"}"#)
    var rules = ConflictRules()
    rules.resolve = { isDeletion ? .delete : .object($0.winner) }

    _ = try database.resolve("x", by: rules)

    #expect(try database.conflictedIDs() == [])
    let expected: DocumentValue? = isDeletion ? nil : "b"
    #expect(try database.collection.get("x")?["v"] == expected)
    #expect(try database.leaves("x").contains("\(deletion) deleted"))
    #expect(try database.leaves("x").count == 2)
  }

  /// Stores a document, and a deletion of other ancestors with the identifier that its next edit gets.
  private func takenEdit(
    _ database: SyncDatabase, isDeleted: Bool = true, body: DocumentObject = [:]
  ) throws -> (first: RevisionID, taken: RevisionID) {
    let first = try database.edit([DocumentEdit(id: "x", parent: nil, body: ["n": 1])])[0].get()
    let taken = RevisionID(parent: first, isDeleted: isDeleted, body: body, attachments: [])
    let ids = #"["\#(taken.hash)","\#(hash("c"))"]"#
    try database.replicate(
      json:
        #"{"_id":"x","_rev":"\#(taken)","_revisions":{"start":2,"ids":\#(ids)},"_deleted":true}"#
    )
    return (first, taken)
  }

  @Test func `An edit whose identifier another program gave to something else is stored`() throws {
    let database = try anyDatabase()
    let (first, deletion) = try takenEdit(database)

    let edit = DocumentEdit(id: "x", parent: first, isDeleted: true)
    let result = try database.edit([edit])[0].get()

    #expect(result != deletion)
    #expect(try database.collection.get("x") == nil)
    #expect(try database.leaves("x").contains("\(result) deleted"))
  }

  @Test func `A deletion whose identifier another program gave to something else is stored`() throws
  {
    let database = try anyDatabase()
    _ = try takenEdit(database)

    try database.collection.delete("x")
    let leaves = try database.leaves("x")

    #expect(leaves.count == 2 && leaves.allSatisfy { $0.hasSuffix("deleted") })
  }

  @Test func `A change whose identifier another program gave to something else is stored`() throws {
    let database = try anyDatabase()
    let body: DocumentObject = ["n": 1, "t": "new"]
    let (first, taken) = try takenEdit(database, isDeleted: false, body: body)

    try database.collection.save(body, key: "x")
    let leaves = try database.leaves("x")

    #expect(leaves.count == 2 && leaves.contains("\(taken) deleted"))
    #expect(!leaves.contains("\(first)"))
    #expect(try database.collection.get("x")?["t"] == "new")
  }

  @Test func `A longer history that joins two versions ends their conflict`() throws {
    let database = try anyDatabase()
    try database.replicate(
      json: #"{"_id":"x","_rev":"2-\#(hash("b"))","v":2}"#,
      #"{"_id":"x","_rev":"3-\#(hash("c"))","v":3}"#)
    #expect(try database.conflictedIDs() == ["x"])

    let letters: [Character] = ["c", "b", "a"]
    let ids = letters.map { "\"\(hash($0))\"" }.joined(separator: ",")
    try database.replicate(
      json:
        #"{"_id":"x","_rev":"3-\#(hash("c"))","_revisions":{"start":3,"ids":[\#(ids)]},"v":3}"#)

    #expect(try database.leaves("x") == ["3-\(hash("c"))"])
    #expect(try database.conflictedIDs() == [])
  }

  @Test(arguments: [1, 2])
  func `A conflict of which versions are purged is none`(_ count: Int) throws {
    let database = try anyDatabase()
    let letters: [Character] = ["b", "a"]
    let revisions = try letters.map { letter in try #require(RevisionID("1-\(hash(letter))")) }
    for revision in revisions {
      try database.replicate(json: #"{"_id":"x","_rev":"\#(revision)","n":1}"#)
    }
    #expect(try database.conflictedIDs() == ["x"])

    let purged = try database.purge(["x": Array(revisions.prefix(count))])

    #expect(purged["x"]?.count == count)
    #expect(try database.conflictedIDs() == [])
  }
}
