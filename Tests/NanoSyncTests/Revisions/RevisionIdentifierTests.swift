// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoSync
import Testing

@Suite struct RevisionIdentifierTests {
  @Test func `Revisions have the identifiers that CouchDB gives to the same content`() throws {
    #expect(RecordedExamples.identifiers.count == 63)
    for example in RecordedExamples.identifiers {
      // Duplicate names are rejected, and integers beyond 64 bits become doubles.
      guard example.number != 41, example.number != 19 else { continue }
      let body = try SyncJSON.object(Array((example["body"]?.string ?? "").utf8))
      let attachments = (example["attachments"]?.array ?? []).compactMap(\.object).map {
        attachment in
        RevisionID.AttachmentIdentity(
          name: attachment["name"]?.string ?? "",
          contentType: attachment["content_type"]?.string ?? "",
          digest: Array(
            Data(base64Encoded: String((attachment["digest"]?.string ?? "").dropFirst(4)))
              ?? Data()))
      }
      let revision = RevisionID(
        parent: example["parent"]?.string.flatMap { RevisionID($0) },
        isDeleted: example["deleted"] == true, body: try SyncJSON.plain(body),
        attachments: attachments)
      #expect(revision.description == example["rev"]?.string, "\(example.title)")
    }
  }

  @Test func `A revision is a positive number, a hyphen and a hash`() {
    for text in ["", "1", "-", "-a", "0-a", "a-b", "+1-a", " 1-a", "1.0-a"] {
      #expect(RevisionID(text) == nil, "\(text)")
    }
    #expect(RevisionID("12-abc")?.generation == 12)
    #expect(RevisionID("1-a-b")?.hash.description == "a-b")
  }

  @Test func `A hash may be empty, and comes before all others`() throws {
    let empty = try #require(RevisionID("1-"))
    #expect(empty.description == "1-")
    #expect(try empty < #require(RevisionID("1-a")))
    #expect(try empty < #require(RevisionID("1-" + hash("0"))))
    var tree = RevisionTree()
    tree.add([try #require(RevisionID("2-")), empty], isDeleted: false)
    #expect(RevisionTree(storedText: tree.storedText) == tree)
  }

  @Test func `32 hexadecimal digits in capitals are the same revision as in small letters`() {
    let digits = String(repeating: "AB", count: 16)
    #expect(RevisionID("1-\(digits)") == RevisionID("1-\(digits.lowercased())"))
    #expect(RevisionID("1-\(digits)")?.description == "1-\(digits.lowercased())")
    #expect(RevisionID("1-AB") != RevisionID("1-ab"))
  }
}
