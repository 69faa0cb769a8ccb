// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  static let documents: [Check] = [
    Check("A document is returned with everything it was stored with") { probe in
      let document = GeneratedDocument(
        ["a": 1, "b": ["c": [nil, true, "é"]]], key: try DocumentKey("k"), type: "T", version: 3,
        added: 1_234_567)
      let id = try probe.write { writer in
        try document.new { try writer.insert($0, into: "c") }
      }
      for identity in [Identity.rowID(id), .key(try DocumentKey("k"))] {
        let found = try probe.read { try $0.document(identity) }
        try expectEqual(found?.rowID, id, "row ID")
        try expectEqual(found?.key, document.key, "key")
        try expectEqual(found?.type, "T", "type")
        try expectEqual(found?.version, 3, "version")
        try expectEqual(found?.added, 1_234_567, "creation time")
        try expectEqual(found?.revision, 1, "revision")
        try expectEqual(found?.body, #"{"a":1,"b":{"c":[null,true,"é"]}}"#, "body")
      }
    },
    Check("Documents are read together by their row IDs, with and without gaps") { probe in
      let ids = try (0..<6).map { try probe.insert(["n": .int($0)]) }
      try probe.write { _ = try $0.delete(.rowID(ids[2]), from: "c") }
      for requested in [ids, [ids[0], ids[3], ids[5]], [ids[2]], [ids[1]], []] {
        var found: [Int64] = []
        try probe.read { reader in
          try reader.get(rowIDs: requested, in: "c") { found.append($0.rowID) }
          try reader.get(rowIDs: requested, in: "none") { _ in found.append(-1) }
        }
        try expectEqual(found.sorted(), requested.filter { $0 != ids[2] }, "\(requested)")
      }
    },
    Check("Every generated value is stored byte for byte") { probe in
      var generator = DocumentGenerator(random: SplitMix(seed: 1), isUniform: false)
      let documents = (0..<200).map { _ in generator.document() }
      let bodies = try probe.write { writer in
        try documents.map { document in
          try document.new { new in
            _ = try writer.insert(new, into: "c")
            return String(decoding: new.body, as: UTF8.self)
          }
        }
      }
      var found: [String] = []
      try probe.read { reader in
        try reader.find(Query(), in: "c") {
          found.append(String(decoding: $0.body, as: UTF8.self))
          return true
        }
      }
      try expectEqual(found, bodies, "bodies")
    },
    Check("Getting a missing document returns false without an error") { probe in
      try probe.insert([:], key: "k")
      let found = try probe.read { reader in
        try [Identity.rowID(99), .key(try DocumentKey("x"))].map { identity in
          try reader.get(identity, in: "c") { _ in
            throw ConformanceFailure("a missing document was returned", #fileID, #line)
          }
        }
      }
      try expectEqual(found, [false, false], "found")
    },
    Check("A duplicate key is rejected, and the transaction continues") { probe in
      try probe.write { writer in
        try writer.insert(["n": 1], key: "k")
        try expectError(.duplicateKey, "second insert") { try writer.insert(["n": 2], key: "k") }
        try writer.insert(["n": 3], key: "l")
      }
      try expectEqual(try probe.read { try $0.count(Query(), in: "c") }, 2, "documents")
      let body = try probe.read { try $0.document(.key(try DocumentKey("k")))?.body }
      try expectEqual(body, #"{"n":1}"#, "the first document")
    },
    Check("Keys are compared byte for byte") { probe in
      let uuid = "0190d1f0-0000-7000-8000-000000000001"
      let keys = [uuid, uuid.uppercased(), "é", "e\u{301}", "E", "e", "1", "01"]
      try probe.write { writer in for key in keys { try writer.insert([:], key: key) } }
      for key in keys {
        let found = try probe.read { try $0.document(.key(try DocumentKey(key)))?.key }
        let bytes = found.map { Array($0.description.utf8) }
        try expectEqual(bytes, Array(key.utf8), "key \(key)")
      }
    },
    Check("Saving replaces the document with the same key, and keeps its row ID and creation time")
    { probe in
      let first = try probe.insert(["n": 1], key: "k")
      let new = GeneratedDocument(
        ["m": 2], key: try DocumentKey("k"), type: "T", version: 2, added: 77)
      let second = try probe.write { writer in try new.new { try writer.save($0, into: "c") } }
      try expectEqual(second, first, "row ID")
      let found = try probe.read { try $0.document(.rowID(first)) }
      try expectEqual(found?.body, #"{"m":2}"#, "body")
      try expectEqual(found?.added, 0, "creation time")
      try expectEqual(found?.type, "T", "type")
      try expectEqual(found?.version, 2, "version")
      try expectEqual(found?.revision, 2, "revision")
      let other = try probe.write { try $0.save(["n": 3]) }
      try expect(other != first, "saving without a key inserts")
    },
    Check("A document without a class of its own keeps that of the document it replaces") { probe in
      let key = try DocumentKey("k")
      let first = GeneratedDocument(["n": 1], key: key, type: "T")
      let id = try probe.write { writer in try first.new { try writer.save($0, into: "c") } }
      for (number, identity) in [(2, Identity.rowID(id)), (3, .key(key))] {
        let new = GeneratedDocument(["n": .int(Int64(number))])
        let isReplaced = try probe.write { writer in
          try new.new { new in
            var new = new
            new.keepsType = true
            return try writer.replace(identity, with: new, in: "c")
          }
        }
        try expect(isReplaced, "an existing document")
        let found = try probe.read { try $0.document(.key(key)) }
        try expectEqual(found?.type, "T", "class")
        try expectEqual(found?.body, #"{"n":\#(number)}"#, "body")
      }
    },
    Check("Replacing changes existing documents only") { probe in
      let id = try probe.insert(["n": 1], key: "k")
      let new = GeneratedDocument(["n": 2])
      try probe.write { writer in
        for identity in [Identity.rowID(id), .key(try DocumentKey("k"))] {
          try expect(
            try new.new { try writer.replace(identity, with: $0, in: "c") }, "an existing document")
        }
        for identity in [Identity.rowID(id + 9), .key(try DocumentKey("x"))] {
          try expect(
            try !new.new { try writer.replace(identity, with: $0, in: "c") }, "a missing document")
        }
      }
      let found = try probe.read { try $0.document(.rowID(id)) }
      try expectEqual(found?.body, #"{"n":2}"#, "body")
      try expectEqual(found?.key?.description, "k", "key")
      try expectEqual(found?.revision, 3, "revision")
      try expectEqual(try probe.ids(), [id], "documents")
    },
    Check("Deleting returns whether the document existed") { probe in
      let id = try probe.insert([:], key: "k")
      let key = Identity.key(try DocumentKey("l"))
      try probe.insert([:], key: "l")
      let gone = try probe.write { writer in
        try [Identity.rowID(id), .rowID(id), key, key].map { try writer.delete($0, from: "c") }
      }
      try expectEqual(gone, [true, false, true, false], "deleted")
      try expectEqual(try probe.ids(), [], "documents")
    },
    Check("A row ID is never reused") { probe in
      var used: Set<Int64> = []
      for round in 0..<4 {
        let ids = try probe.write { writer in try (0..<3).map { _ in try writer.insert([:]) } }
        for id in ids { try expect(used.insert(id).inserted, "row ID \(id) in round \(round)") }
        try probe.write { writer in
          switch round {
          case 0: _ = try writer.delete(.rowID(ids[2]), from: "c")
          case 1: _ = try writer.delete(Query(), from: "c")
          default:
            for id in ids { _ = try writer.delete(.rowID(id), from: "c") }
            let id = try writer.insert([:])
            try expect(used.insert(id).inserted, "row ID \(id) after all documents were deleted")
            _ = try writer.delete(.rowID(id), from: "c")
          }
        }
      }
    },
    Check("A document of one million bytes is stored") { probe in
      let text = String(repeating: "ü\"", count: 250_000)
      let id = try probe.insert(["text": .string(text)])
      let found = try probe.ids(Query(.comparison(.field("text"), .equal, .value(.string(text)))))
      try expectEqual(found, [id], "found by its text")
    },
  ]
}
