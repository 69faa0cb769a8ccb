// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  static let metadata: [Check] = [
    Check("Metadata values are returned unchanged") { probe in
      let values: [String: DocumentValue] = [
        "a": .int(.max), "b": .double(-0.0), "c": .date(Date(timeIntervalSinceReferenceDate: 1e-9)),
        "d": .data(Data([0, 255])), "e": [nil, true, ["x": "é\u{0}"]], "n": .null,
        "it's \"x\"": .string(""),
      ]
      try probe.write { writer in
        for (name, value) in values { try writer.setMetadata(value, name) }
      }
      try probe.read { reader in
        for (name, value) in values {
          let found = try reader.metadata(name)
          try expectEqual(found, value, "metadata \(name)")
          if case .double(let number)? = found {
            try expectEqual(number.sign, .minus, "the sign of zero")
          }
        }
        try expectEqual(try reader.metadataNames(), values.keys.sorted(), "names")
        try expectEqual(try reader.metadata("x"), nil, "a missing name")
      }
    },
    Check("Metadata can be replaced and removed") { probe in
      try probe.write { writer in
        try writer.setMetadata(.int(1), "a")
        try writer.setMetadata(.int(2), "a")
        try expectEqual(try writer.metadata("a"), .int(2), "replaced")
        try writer.setMetadata(nil, "a")
        try writer.setMetadata(nil, "missing")
        try expectEqual(try writer.metadataNames(), [], "names")
      }
    },
  ]

  static let maintenance: [Check] = [
    Check("A database in use passes verification, and its statistics are correct") { probe in
      try probe.write { writer in
        for number in 0..<20 { try writer.insert(["n": .int(Int64(number))], into: "a") }
        try writer.createIndex(IndexDefinition(columns: [.init("n")]), in: "a")
        try writer.createCollection(CollectionDescription(name: "b"))
      }
      try expectEqual(try probe.engine.verify(), [], "problems")
      let expected = [
        EngineStatistics.Collection(name: "a", documents: 20, indexes: 1),
        EngineStatistics.Collection(name: "b", documents: 0, indexes: 0),
      ]
      try expectEqual(try probe.engine.statistics().collections, expected, "collections")
    },
    Check("Compacting preserves documents and row IDs") { probe in
      try probe.write { writer in
        for number in 0..<200 { try writer.insert(["n": .int(Int64(number))]) }
        _ = try writer.delete(Query(limit: 150), from: "c")
      }
      let before = try probe.ids()
      try probe.engine.compact()
      try expectEqual(try probe.ids(), before, "documents")
      try expect(!before.contains(try probe.insert([:])), "a row ID was reused")
    },
    Check("A backup is atomic, and replaces a file only on request") { probe in
      guard probe.has(.backup) else {
        try expectError(.unsupported, "backup") {
          try probe.engine.backup(to: BackupDestination(path: "nowhere"), progress: nil)
        }
        return
      }
      struct Stop: Error {}
      let path = NSTemporaryDirectory() + "NanoTesting-" + UUID().uuidString
      defer { try? FileManager.default.removeItem(atPath: path) }
      try probe.write { writer in for _ in 0..<200 { try writer.insert(["n": 1]) } }
      do {
        // An error at the final progress report may come too late to cancel the backup.
        try probe.engine.backup(to: BackupDestination(path: path)) { _ in throw Stop() }
        try FileManager.default.removeItem(atPath: path)
      } catch is Stop {
        try expect(!FileManager.default.fileExists(atPath: path), "a partial backup exists")
      }
      var last = 0.0
      try probe.engine.backup(to: BackupDestination(path: path)) { last = $0 }
      try expectEqual(last, 1, "final progress")
      try expectError(.alreadyExists, "a second backup") {
        try probe.engine.backup(to: BackupDestination(path: path), progress: nil)
      }
      try probe.engine.backup(to: BackupDestination(path: path, replacing: true), progress: nil)
      try expectEqual(try probe.ids().count, 200, "documents of the original")
    },
    Check("A closed engine throws on every call") { probe in
      try probe.insert([:])
      try probe.engine.close()
      try probe.engine.close()
      try expectError(.closed, "read") { _ = try probe.ids() }
      try expectError(.closed, "write") { try probe.insert([:]) }
      try expectError(.closed, "get") { _ = try probe.engine.get(.rowID(1), in: "c", nil) { _ in } }
      try expectError(.closed, "get of keys") {
        try probe.engine.get(keys: [.text("a")], in: "c", nil) { _ in }
      }
      try expectError(.closed, "backup") {
        try probe.engine.backup(to: BackupDestination(path: "/no folder/copy"), progress: nil)
      }
      try expectError(.closed, "verify") { _ = try probe.engine.verify() }
      try expectError(.closed, "statistics") { _ = try probe.engine.statistics() }
      try expectError(.closed, "compact") { try probe.engine.compact() }
    },
  ]

  static let durability: [Check] = [
    Check("Committed writes survive reopening the database") { probe in
      guard probe.has(.durable) else { return }
      let index = IndexDefinition(columns: [.init("a"), .init("b", descending: true)])
      let last = try probe.write { writer in
        try writer.createCollection(CollectionDescription(name: "rows", identity: .rowID))
        try writer.createIndex(index, in: "c")
        try writer.setMetadata(["x": 1], "m")
        try writer.insert(["a": 1], key: "k")
        return try writer.insert(["a": [1, 2]])
      }
      _ = try probe.write { try $0.delete(.rowID(last), from: "c") }
      try probe.rolledBack { _ = try $0.insert(["a": 9]) }
      try probe.reopen()
      try probe.read { reader in
        let names = try reader.collections().map(\.name)
        try expectEqual(names, ["c", "rows"], "collections")
        try expectEqual(try reader.identity(of: "rows"), .rowID, "identity")
        try expectEqual(try reader.indexes(in: "c"), [index], "indexes")
        try expectEqual(try reader.metadata("m"), ["x": 1], "metadata")
        try expectEqual(try reader.ids().count, 1, "documents")
        let body = try reader.document(.key(try DocumentKey("k")))?.body
        try expectEqual(body, #"{"a":1}"#, "a document")
        let types = try reader.observedPaths(in: "c").first { $0.path == "a" }?.types
        try expectEqual(types, [.int, .array], "observed types")
      }
      try expect(try probe.insert([:]) > last, "the row ID of a deleted document was reused")
    }
  ]
}
