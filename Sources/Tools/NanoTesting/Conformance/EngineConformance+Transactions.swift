// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

private struct Rollback: Error {}

extension Probe {
  /// Runs a write transaction and rolls it back with a custom error.
  fileprivate func rollingBack(_ work: (any EngineWriter) throws -> Void) throws {
    do {
      try write { writer in
        try work(writer)
        throw Rollback()
      }
    } catch is Rollback {}
  }
}

extension EngineWriter {
  fileprivate func rollingBack(_ work: () throws -> Void) throws {
    do {
      try savepoint {
        try work()
        throw Rollback()
      }
    } catch is Rollback {}
  }

  /// Runs a block that inserts documents, and then throws.
  fileprivate func undoingInsertions(_ work: () throws -> Void) throws {
    do {
      try insertAtomically(1_000, into: "c") {
        try work()
        throw Rollback()
      }
    } catch is Rollback {}
  }
}

extension EngineConformance {
  private static let one = Query(.comparison(.field("a"), .equal, .value(.int(1))))

  /// Makes every kind of change that a transaction supports.
  private static func changeEverything(_ writer: any EngineWriter, _ kept: Int64) throws {
    try writer.insert(["a": 1], key: "new")
    try writer.save(["a": 1], key: "kept")
    _ = try writer.delete(.rowID(kept + 1), from: "c")
    try writer.insert([:], into: "added")
    try writer.createIndex(IndexDefinition(columns: [.init("a")]), in: "c")
    _ = try writer.dropIndex("b", in: "c")
    try writer.setMetadata(.int(2), "m")
    try writer.setMetadata(.int(2), "n")
  }

  private static func prepare(_ probe: Probe) throws -> Int64 {
    try probe.write { writer in
      let kept = try writer.insert(["a": 0], key: "kept")
      try writer.insert(["a": 0])
      try writer.createIndex(IndexDefinition(columns: [.init("b")]), in: "c")
      try writer.setMetadata(.int(1), "m")
      return kept
    }
  }

  private static func prepareInsertions(_ writer: any EngineWriter) throws {
    try writer.insert(["n": 0], key: "kept")
    try writer.createIndex(IndexDefinition(columns: [.init("n")]), in: "c")
  }

  private static func expectNothingChanged(
    _ reader: any EngineReader, _ kept: Int64, line: UInt = #line
  ) throws {
    try expectEqual(try reader.ids(), [kept, kept + 1], "documents", line: line)
    try expectEqual(
      try reader.document(.rowID(kept))?.body, #"{"a":0}"#, "the saved document", line: line)
    try expectEqual(try reader.count(one, in: "c"), 0, "matches of new values", line: line)
    try expectEqual(try reader.collections().map(\.name), ["c"], "collections", line: line)
    try expectEqual(try reader.indexes(in: "c").map(\.name), ["b"], "indexes", line: line)
    try expectEqual(try reader.metadata("m"), .int(1), "metadata", line: line)
    try expectEqual(try reader.metadataNames(), ["m"], "metadata names", line: line)
  }

  static let transactions: [Check] = [
    Check("A write that throws leaves the database unchanged") { probe in
      let kept = try prepare(probe)
      try probe.rollingBack { try changeEverything($0, kept) }
      try probe.read { try expectNothingChanged($0, kept) }
      try probe.insert(["a": 1])
      try expectEqual(try probe.read { try $0.count(one, in: "c") }, 1, "found afterward")
    },
    Check("An engine error thrown out of the closure rolls back the transaction") { probe in
      let kept = try prepare(probe)
      try expectError(.duplicateKey, "insert") {
        try probe.write { writer in
          try changeEverything(writer, kept)
          try writer.insert([:], key: "new")
        }
      }
      try probe.read { try expectNothingChanged($0, kept) }
    },
    Check("A savepoint that throws rolls back its changes, and the transaction continues") {
      probe in
      let kept = try prepare(probe)
      try probe.write { writer in
        try writer.rollingBack { try changeEverything(writer, kept) }
        try expectNothingChanged(writer, kept)
        try writer.insert(["a": 1], key: "after")
      }
      let keys = try probe.read { reader in
        try reader.ids(one).map { try reader.document(.rowID($0))?.key?.description }
      }
      try expectEqual(keys, ["after"], "documents written afterward")
    },
    Check("Savepoints nest, and rolling back the outer one rolls back the inner ones") { probe in
      try probe.write { writer in
        try writer.insert(["n": 0])
        try writer.savepoint {
          try writer.insert(["n": 1])
          try writer.rollingBack {
            try writer.insert(["n": 2])
            _ = try writer.savepoint { try writer.insert(["n": 3]) }
          }
          try writer.insert(["n": 4])
        }
        try writer.rollingBack { _ = try writer.savepoint { try writer.insert(["n": 5]) } }
      }
      let numbers = try probe.read { try $0.distinct("n", Query(), in: "c") }
      try expectEqual(numbers, [.int(0), .int(1), .int(4)], "remaining values")
    },
    Check("Changes rolled back by a savepoint do not affect later queries") { probe in
      let index = IndexDefinition(columns: [.init("a")])
      let pattern = Query(.comparison(.field("a"), .greater, .value(.int(0))))
      try probe.write { writer in
        try writer.createIndex(index, in: "c")
        try writer.insert(["a": 1])
        try writer.rollingBack { _ = try writer.insert(["a": [5, 6]]) }
        try writer.insert(["a": [7]])
        try writer.insert(["a": "text"])
        try expectEqual(try writer.count(pattern, in: "c"), 2, "in the transaction")
      }
      try expectEqual(try probe.read { try $0.count(pattern, in: "c") }, 2, "afterward")
    },
    Check("Insertions that throw are undone, and the transaction continues") { probe in
      try probe.write { writer in
        try prepareInsertions(writer)
        try writer.undoingInsertions {
          for n in 1...30 { try writer.insert(["n": .int(Int64(n))], key: "\(n)") }
          try expectEqual(try writer.ids().count, 31, "documents in the block")
        }
        try expectEqual(try writer.distinct("n", Query(), in: "c"), [.int(0)], "values afterward")
        try writer.insertAtomically(1_000, into: "c") {
          for n in 1...30 { try writer.insert(["n": .int(Int64(n))], key: "\(n)") }
        }
        let first = Query(.comparison(.field("n"), .equal, .value(.int(1))))
        try expectEqual(try writer.count(first, in: "c"), 1, "found by the index")
      }
      try expectEqual(try probe.ids().count, 31, "documents")
    },
    Check("Other writes in a failed batch of insertions are undone with it") { probe in
      try probe.write { writer in
        try prepareInsertions(writer)
        try writer.undoingInsertions {
          for n in 1...30 { try writer.insert(["n": .int(Int64(n))]) }
          try writer.prepareForOtherUse()
          try writer.save(["n": 99], key: "kept")
          try writer.insert([:], into: "added")
          try writer.undoingInsertions {
            for n in 31...60 { try writer.insert(["n": .int(Int64(n))]) }
          }
          for n in 31...60 { try writer.insert(["n": .int(Int64(n))]) }
        }
        try writer.insert(["n": 61])
      }
      let numbers = try probe.read { try $0.distinct("n", Query(), in: "c") }
      try expectEqual(numbers, [.int(0), .int(61)], "remaining values")
      try expectEqual(try probe.ids(in: "added"), [], "documents of another collection")
    },
    Check("A transaction sees its own writes") { probe in
      try probe.write { writer in
        let id = try writer.insert(["a": 1], key: "k")
        try expectEqual(try writer.ids(one), [id], "found")
        try expect(try writer.document(.rowID(id)) != nil, "returned by row ID")
        try writer.save(["a": 2], key: "k")
        try expectEqual(try writer.ids(one), [], "found after the update")
        _ = try writer.delete(.rowID(id), from: "c")
        try expect(try writer.document(.rowID(id)) == nil, "returned after the deletion")
      }
    },
    Check("Transactions and savepoints return the result of the closure") { probe in
      try expectEqual(try probe.write { _ in 42 }, 42, "write")
      try expectEqual(try probe.read { _ in "x" }, "x", "read")
      try expectEqual(try probe.write { try $0.savepoint { true } }, true, "savepoint")
    },
    Check("An interruption triggered before a call stops it") { probe in
      try probe.insert([:])
      let interruption = Interruption()
      interruption.trigger()
      try expectError(.interrupted, "read") {
        try probe.engine.read(.call, interruption) { _ = try $0.ids() }
      }
      try expectError(.interrupted, "write") {
        try probe.engine.write(interruption) { _ = try $0.insert([:]) }
      }
      try expectEqual(try probe.ids().count, 1, "documents")
    },
    Check("An interrupted query stops, and the engine remains usable") { probe in
      try probe.write { writer in for _ in 0..<1_000 { try writer.insert(["a": 1]) } }
      var visited = 0
      let interruption = Interruption()
      try expectError(.interrupted, "find") {
        try probe.engine.read(.snapshot, interruption) { reader in
          try reader.find(one, in: "c") { _ in
            visited += 1
            if visited == 10 { interruption.trigger() }
            return true
          }
        }
      }
      try expect(visited < 1_000, "visited documents")
      try expectEqual(try probe.ids(one).count, 1_000, "found afterward")
    },
    Check("An interrupted write is rolled back") { probe in
      let interruption = Interruption()
      try expectError(.interrupted, "write") {
        try probe.engine.write(interruption) { writer in
          for _ in 0..<1_000 { try writer.insert(["a": 1]) }
          try writer.find(one, in: "c") { _ in
            interruption.trigger()
            return true
          }
        }
      }
      try expectEqual(try probe.ids().count, 0, "documents")
      try probe.insert(["a": 1])
      try expectEqual(try probe.ids(one).count, 1, "documents afterward")
    },
  ]
}
