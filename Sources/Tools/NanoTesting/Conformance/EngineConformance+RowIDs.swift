// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  static let rowIDs: [Check] = [
    Check("The next row ID is available in advance, and later row IDs are free") { probe in
      try probe.insert([:], key: "first")
      let ids = try probe.write { writer in
        let next = try writer.nextRowID(in: "c")
        let later = try writer.insert(at: next + 1, ["n": 2])
        return [next, later, try writer.insert(at: next, ["n": 1]), try writer.insert(["n": 3])]
      }
      try expectEqual(ids, [ids[0], ids[0] + 1, ids[0], ids[0] + 2], "row IDs")
      try expectEqual(
        try probe.read { try $0.rowIDs(Query(), in: "c").rowIDs }.suffix(3),
        [ids[0], ids[0] + 1, ids[0] + 2], "found")
    },
    Check("The next row ID of a new collection is available, and a deletion does not free row IDs")
    {
      probe in
      let first = try probe.write { try $0.nextRowID(in: "c") }
      try probe.insert([:], key: "a")
      let next = try probe.write { writer in
        _ = try writer.delete(.key(try DocumentKey("a")), from: "c")
        return try writer.nextRowID(in: "c")
      }
      try expectEqual(next, first + 1, "next")
    },
    Check("The highest row ID, if supported, includes deleted documents") {
      probe in
      let before = try probe.read { try $0.highestRowID(in: "c") }
      try probe.insert([:], key: "a")
      let highest = try probe.write { writer in
        let highest = try writer.insert(at: 9, ["n": 1])
        _ = try writer.delete(.rowID(highest), from: "c")
        return highest
      }
      guard let reported = try probe.read({ try $0.highestRowID(in: "c") }) else { return }
      try expectEqual(reported, highest, "highest")
      try expectEqual(before, 0, "before")
    },
    Check("Inserting several documents with row IDs is equivalent to inserting them one by one") {
      probe in
      let count = NewDocument.batchSize * 2 + 3
      let ids = try probe.write { writer in
        let next = try writer.nextRowID(in: "c")
        let bodies = (0..<count).map { Array("{\"n\":\($0)}".utf8) }
        var ids: [Int64] = []
        for start in stride(from: 0, to: count, by: NewDocument.batchSize) {
          let documents = (start..<min(start + NewDocument.batchSize, count)).map { index in
            let body = UnsafeMutableRawBufferPointer.allocate(
              byteCount: bodies[index].count, alignment: 1)
            body.copyBytes(from: bodies[index])
            return NewDocument(
              key: nil, version: index.isMultiple(of: 2) ? 2 : nil, added: 1,
              rowID: next + Int64(index), body: UnsafeRawBufferPointer(body))
          }
          defer { for document in documents { document.body.deallocate() } }
          try writer.insert(documents, into: "c", &ids)
        }
        try expectEqual(ids, (0..<count).map { next + Int64($0) }, "row IDs")
        return ids
      }
      var found: [String] = []
      try probe.read { reader in
        try reader.find(Query(), in: "c") { stored in
          found.append("\(stored.rowID) \(stored.version ?? 1) \(stored.revision ?? 0)")
          return true
        }
      }
      let expected = ids.enumerated().map { "\($1) \($0.isMultiple(of: 2) ? 2 : 1) 1" }
      try expectEqual(found, expected, "documents")
    },
    Check(
      "Row IDs are available for several collections at once, and new documents have revision 1"
    ) {
      probe in
      try probe.write { writer in
        let next = try ["a", "b", "c"].map { ($0, try writer.nextRowID(in: $0)) }
        for (name, id) in next {
          _ = try GeneratedDocument([:]).new { new in
            var new = new
            new.rowID = id
            return try writer.insert(new, into: name)
          }
        }
        for (name, id) in next {
          let revision = try writer.version(ofRow: id, in: name)?.revision
          try expect(revision == nil || revision == 1, "revision \(revision ?? 0) in \(name)")
        }
      }
    },
    Check("A duplicate row ID is rejected, and the transaction continues") { probe in
      let id = try probe.write { writer in
        let id = try writer.insert(["a": 1])
        try expectError(.duplicateKey, "a duplicate row ID") { try writer.insert(at: id, ["a": 2]) }
        return id
      }
      let found = try probe.read { try $0.document(.rowID(id)) }
      try expectEqual(found?.body, #"{"a":1}"#, "body")
    },
    Check("A document reinserted with the row ID of a deleted one has a different content version")
    {
      probe in
      let ids = try probe.write { writer in
        [try writer.insert(["a": 1]), try writer.insert(["a": 2])]
      }
      let before = try probe.read { try $0.version(ofRow: ids[1], in: "c") }
      try probe.write { writer in
        for id in ids { _ = try writer.delete(.rowID(id), from: "c") }
        _ = try writer.insert(at: ids[1], ["a": 3])
        _ = try writer.insert(at: ids[0], ["a": 4])
        try expectEqual(try writer.insert(["a": 5]), ids[1] + 1, "next row ID")
      }
      let after = try probe.read { try $0.version(ofRow: ids[1], in: "c") }
      if let before { try expect(after != before, "the version is the same") }
      let bodies = try probe.read { reader in
        try ids.map { try reader.document(.rowID($0))?.body ?? "" }
      }
      try expectEqual(bodies, [#"{"a":4}"#, #"{"a":3}"#], "bodies")
    },
    Check("A document is replaced only if it has the specified revision") { probe in
      let id = try probe.write { try $0.insert(["a": 1]) }
      let revision = try probe.read { try $0.document(.rowID(id))?.revision }
      guard let revision else { return }
      let replaced = try probe.write { writer in
        [
          try writer.replace(id, revision, ["a": 2]), try writer.replace(id, revision, ["a": 3]),
          try writer.replace(id, revision + 1, ["a": 4]), try writer.replace(id, nil, ["a": 5]),
          try writer.replace(id + 1, nil, ["a": 6]),
        ]
      }
      try expectEqual(replaced, [true, false, true, true, false], "replaced")
      let found = try probe.read { try $0.document(.rowID(id)) }
      try expectEqual(found?.body, #"{"a":5}"#, "body")
      try expectEqual(found?.revision, revision + 3, "revision")
    },
    Check("A document with an expected revision is replaced only if it has the expected row ID") {
      probe in
      let key = try DocumentKey("k")
      let ids = try probe.write { writer in
        try (0..<2).map { number in
          _ = try writer.delete(.key(key), from: "c")
          return try GeneratedDocument(["a": .int(Int64(number))], key: key).new {
            try writer.save($0, into: "c")
          }
        }
      }
      let revision = try probe.read { try $0.document(.key(key))?.revision }
      guard let revision else { return }
      let replaced = try probe.write { writer in
        try ids.map { id in
          try GeneratedDocument(["a": 5], key: key).new { new in
            var new = new
            (new.rowID, new.replacedRevision) = (id, revision)
            return try writer.replace(.key(key), with: new, in: "c")
          }
        }
      }
      try expectEqual(replaced, [false, true], "replaced")
    },
  ]
}

extension EngineWriter {
  @discardableResult
  func insert(at rowID: Int64? = nil, _ object: DocumentObject) throws -> Int64 {
    try GeneratedDocument(object).new { new in
      var new = new
      new.rowID = rowID
      return try insert(new, into: "c")
    }
  }

  fileprivate func replace(
    _ rowID: Int64, _ revision: Int64?, _ object: DocumentObject
  ) throws -> Bool {
    try GeneratedDocument(object).new { new in
      var new = new
      new.replacedRevision = revision
      return try replace(.rowID(rowID), with: new, in: "c")
    }
  }
}
