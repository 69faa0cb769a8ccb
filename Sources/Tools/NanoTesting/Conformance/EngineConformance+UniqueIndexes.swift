// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  /// Expects a violation that names the index and the conflicting document.
  private static func expectViolation(
    _ index: IndexDefinition, holder: Int64, key: String?, line: UInt = #line,
    _ work: () throws -> Void
  ) throws {
    let error = try expectError(.uniqueViolation, index.name, line: line, work)
    try expectEqual(error[.index], index.name, "the index", line: line)
    try expectEqual(error[.rowID], "\(holder)", "the document", line: line)
    try expectEqual(error[.key], key, "its key", line: line)
  }

  static let uniqueIndexes: [Check] = [
    Check("A unique index rejects a duplicate and names the existing document") { probe in
      guard probe.has(.uniqueIndexes) else { return }
      let index = IndexDefinition(columns: [.init("a.b")], isUnique: true)
      try probe.write { writer in
        try writer.createIndex(index, in: "c")
        let first = try writer.insert(["a": ["b": "x"]], key: "k")
        let other = try writer.insert(["a": ["b": "y"]], key: "l")
        try expectViolation(index, holder: first, key: "k") {
          try writer.insert(["a": ["b": "x"]])
        }
        try expectViolation(index, holder: first, key: "k") {
          try writer.save(["a": ["b": "x"]], key: "l")
        }
        try expectViolation(index, holder: first, key: "k") {
          _ = try GeneratedDocument(["a": ["b": "x"]]).new {
            try writer.replace(.rowID(other), with: $0, in: "c")
          }
        }
        // A document does not conflict with itself, and the transaction continues.
        try writer.save(["a": ["b": "x"], "n": 1], key: "k")
        try writer.insert(["a": ["b": "z"]])
      }
      try expectEqual(try probe.ids().count, 3, "documents")
    },
    Check(
      "A second document with the same key is a duplicate key, also if all its values are the same"
    ) {
      probe in
      guard probe.has(.uniqueIndexes) else { return }
      try probe.write { writer in
        try writer.createIndex(IndexDefinition(columns: [.init("a")], isUnique: true), in: "c")
        try writer.insert(["a": 1], key: "k")
        for value in [1, 2] as [DocumentValue] {
          try expectError(.duplicateKey, "the same key") {
            try writer.insert(["a": value], key: "k")
          }
        }
      }
      try expectEqual(try probe.ids().count, 1, "documents")
    },
    Check("Missing values and nulls are never duplicates") { probe in
      guard probe.has(.uniqueIndexes) else { return }
      try probe.write { writer in
        try writer.createIndex(IndexDefinition(columns: [.init("a")], isUnique: true), in: "c")
        for _ in 0..<2 {
          try writer.insert([:])
          try writer.insert(["a": nil])
        }
      }
      try expectEqual(try probe.ids().count, 4, "documents")
    },
    Check("A compound unique index compares all of its fields") { probe in
      guard probe.has(.uniqueIndexes) else { return }
      let columns = [IndexDefinition.Column("a"), .init("b", descending: true)]
      let index = IndexDefinition(columns: columns, isUnique: true)
      try probe.write { writer in
        try writer.createIndex(index, in: "c")
        let first = try writer.insert(["a": 1, "b": "x"])
        try writer.insert(["a": 1, "b": "y"])
        try writer.insert(["a": 2, "b": "x"])
        try writer.insert(["a": 1])
        try writer.insert(["a": 1])
        try expectViolation(index, holder: first, key: nil) {
          try writer.insert(["a": 1, "b": "x"])
        }
      }
      try expectEqual(try probe.ids().count, 5, "documents")
    },
    Check("A unique index on elements allows each element in one document only") { probe in
      guard probe.has(.uniqueIndexes), probe.has(.uniqueElementIndexes) else { return }
      let index = IndexDefinition(columns: [.init("list")], isUnique: true, kind: .elements)
      let nested = IndexDefinition(columns: [.init("list.n")], isUnique: true, kind: .elements)
      try probe.write { writer in
        try writer.createIndex(index, in: "c")
        let first = try writer.insert(["list": ["x", "y", "x"]], key: "k")
        try expectViolation(index, holder: first, key: "k") { try writer.insert(["list": "y"]) }
        try expectViolation(index, holder: first, key: "k") {
          try writer.insert(["list": ["z", "x"]])
        }
        try writer.insert(["list": ["z"]])
        try writer.insert(["list": []])
        try writer.insert(["list": [["n": 1], ["n": 2]]])
        // A document does not conflict with its own elements, but with those of other documents.
        let last = try writer.insert(["list": ["own"]], key: "l")
        try expectViolation(index, holder: first, key: "k") {
          try writer.save(["list": ["own", "y"]], key: "l")
        }
        _ = try writer.delete(.rowID(last), from: "c")
        // Fields of an element do not count as elements.
        try writer.insert(["list": [1, 2]])
        try writer.createIndex(nested, in: "d")
        let other = try writer.insert(["list": [["n": 1], ["n": [2]]]], into: "d")
        try expectViolation(nested, holder: other, key: nil) {
          try writer.insert(["list": ["n": 2]], into: "d")
        }
      }
      try expectEqual(try probe.ids().count, 5, "documents")
    },
    Check("Creating a unique index over duplicates fails without side effects") { probe in
      guard probe.has(.uniqueIndexes) else { return }
      let kinds = probe.indexKinds(isUnique: true)
      try probe.write { writer in
        try writer.insert(["a": "x"])
        try writer.insert(["a": "x"])
        for kind in kinds {
          let index = IndexDefinition(name: "i", columns: [.init("a")], isUnique: true, kind: kind)
          let error = try expectError(.uniqueViolation, "\(kind)") {
            try writer.createIndex(index, in: "c")
          }
          try expectEqual(error[.index], "i", "the index")
          try expectEqual(try writer.indexes(in: "c"), [], "indexes")
          // The transaction continues, and the name is available.
          var plain = index
          plain.isUnique = false
          try writer.createIndex(plain, in: "c")
          _ = try writer.dropIndex("i", in: "c")
        }
        try writer.insert(["a": "x"])
      }
      try expectEqual(try probe.ids().count, 3, "documents")
      try expectEqual(try probe.engine.verify(), [], "problems")
    },
    Check("A unique value is available again after its document is deleted or updated") { probe in
      guard probe.has(.uniqueIndexes) else { return }
      let index = IndexDefinition(columns: [.init("a")], isUnique: true)
      try probe.write { writer in
        try writer.createIndex(index, in: "c")
        try writer.insert(["a": 1], key: "k")
        try writer.save(["a": 2], key: "k")
        try writer.insert(["a": 1])
        _ = try writer.delete(.key(try DocumentKey("k")), from: "c")
        try writer.insert(["a": 2])
        _ = try writer.dropIndex(index.name, in: "c")
        try writer.insert(["a": 2])
      }
      try expectEqual(try probe.ids().count, 3, "documents")
    },
  ]
}
