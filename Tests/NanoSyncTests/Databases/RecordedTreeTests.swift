// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

@Suite struct RecordedTreeTests {
  @Test func `A database answers for revision trees as CouchDB does`() throws {
    for example in RecordedExamples.trees where example.number != 39 {
      let database = try anyDatabase()
      if example.number == 43 { try database.setRevisionLimit(3) }
      if example.number == 44 { try database.setRevisionLimit(2) }
      for request in example["bulkDocs"]?.array ?? [] {
        let documents = try (request.array ?? []).map { value in
          try WireDocument(try #require(value.object)).document(attachments: [])
        }
        #expect(try database.replicate(documents).isEmpty, "\(example.title)")
      }
      try check(example, database)
    }
  }

  private func check(_ example: DocumentObject, _ database: SyncDatabase) throws {
    let id = try #require(example[path: "changesAllDocs", "id"]?.string)
    let changes = try database.changes(since: nil, limit: 10).changes
    #expect(changes.map(\.id) == [id])
    let change = try #require(changes.first)
    let rows = example[path: "changesAllDocs", "changes"]?.array ?? []
    #expect(
      change.leaves.map { $0.id.description } == rows.compactMap { $0.object?["rev"]?.string },
      "\(example.title)")
    #expect(
      change.isDeleted == (example[path: "changesAllDocs", "deleted"] == true),
      "\(example.title)")
    let revisions = try #require(try database.revisions([id])[id])
    for row in example["openRevsAll"]?.array ?? [] {
      guard let expected = row.object?["ok"]?.object else { continue }
      let revision = try #require(expected["_rev"]?.string.flatMap { RevisionID($0) })
      let json = try #require(revisions[revision]).json(WireOptions(hasHistory: true))
      #expect(
        Set(try SyncJSON.object(json).map { "\($0)" }) == Set(expected.map { "\($0)" }),
        "\(example.title)")
    }
    // The document is the winning revision.
    let document = try database.collection.get(id)
    #expect((document != nil) == !change.isDeleted, "\(example.title)")
    if example[path: "get", "status"]?.int64 == 200 {
      #expect(document?["v"] == example["get"]?.object?[path: "body", "v"], "\(example.title)")
    }
    guard let difference = example["revsDiff"]?.object, example.number != 31 else { return }
    let asked = (difference["asked"]?.array ?? []).compactMap {
      $0.string.flatMap { RevisionID($0) }
    }
    let missing = try database.missingRevisions([id: asked])[id]
    let answer = difference["answer"]?.object ?? [:]
    #expect(
      Set(missing?.missing.map(\.description) ?? [])
        == Set(answer["missing"]?.array?.compactMap(\.string) ?? []), "\(example.title)")
    #expect(
      Set(missing?.ancestors.map(\.description) ?? [])
        == Set(answer["possible_ancestors"]?.array?.compactMap(\.string) ?? []),
      "\(example.title)")
  }
}
