// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  static let indexes: [Check] = [
    Check("An index is created, listed and dropped; creating it twice has no effect") { probe in
      let plain = IndexDefinition(columns: [.init("a"), .init("b.c", descending: true)])
      try probe.write { writer in
        try writer.createIndex(plain, in: "c")
        try writer.createIndex(plain, in: "c")
        try expectEqual(try writer.indexes(in: "c"), [plain], "in the transaction")
      }
      try expectEqual(try probe.read { try $0.indexes(in: "c") }, [plain], "indexes")
      try probe.write { writer in
        try expect(try writer.dropIndex(plain.name, in: "c"), "dropped")
        try expect(try !writer.dropIndex(plain.name, in: "c"), "dropped twice")
      }
      try expectEqual(try probe.read { try $0.indexes(in: "c") }, [], "indexes after dropping")
    },
    Check("An index name has one definition per collection") { probe in
      try probe.write { writer in
        try writer.createIndex(IndexDefinition(name: "i", columns: [.init("a")]), in: "c")
        try expectError(.alreadyExists, "a different field") {
          try writer.createIndex(IndexDefinition(name: "i", columns: [.init("b")]), in: "c")
        }
        try expectError(.alreadyExists, "a different direction") {
          let column = IndexDefinition.Column("a", descending: true)
          try writer.createIndex(IndexDefinition(name: "i", columns: [column]), in: "c")
        }
        // Another collection may use the same name.
        try writer.createIndex(IndexDefinition(name: "i", columns: [.init("b")]), in: "d")
      }
    },
    Check("Indexes with similar names are distinct") { probe in
      let definitions: [(collection: String, index: String)] = [
        ("c", "a"), ("c", "A"), ("c", "key"), ("c", "c.key"), ("a", "b_c"), ("a_b", "c"),
        ("a", "b.c"), ("a.b", "c"), ("a%2Eb", "c"), ("c", "a#1"), ("c", "lastName"),
        ("c", "lastname"), ("c", "it's"), ("c", "it'\u{301}s"), ("c.\u{301}x", "a"),
        ("c", "$\u{301}"),
      ]
      let isUnique = probe.has(.uniqueIndexes)
      try probe.write { writer in
        for (collection, name) in definitions {
          let column = IndexDefinition.Column(FieldPath(components: [name]))
          let index = IndexDefinition(name: name, columns: [column], isUnique: isUnique)
          try writer.createIndex(index, in: collection)
        }
        guard isUnique else { return }
        for (collection, name) in definitions {
          try writer.insert(DocumentObject([(name, .int(1))]), key: name, into: collection)
          let error = try expectError(.uniqueViolation, name) {
            try writer.insert(DocumentObject([(name, .int(1))]), into: collection)
          }
          try expectEqual(error[.index], name, "the index")
        }
      }
      for (collection, name) in definitions {
        try expect(try probe.write { try $0.dropIndex(name, in: collection) }, "dropped \(name)")
      }
    },
    Check("Invalid index definitions are rejected") { probe in
      try probe.insert([:])
      let invalid = [
        IndexDefinition(name: "i", columns: []),
        IndexDefinition(columns: [.init("a"), .init("a")]),
        IndexDefinition(columns: [.init("a"), .init("b")], kind: .elements),
      ]
      for index in invalid where probe.has(index.kind.capability(isUnique: false)) {
        try expectError(.invalidArgument, "\(index)") {
          try probe.write { try $0.createIndex(index, in: "c") }
        }
      }
      try expectError(.invalidPath, "an empty name") {
        try probe.write { try $0.createIndex(IndexDefinition(columns: [.init("a..b")]), in: "c") }
      }
      try expectEqual(try probe.read { try $0.indexes(in: "c") }, [], "indexes")
    },
    Check("Indexes do not change query results, whenever they are created or dropped") { probe in
      let values: [DocumentValue] = [
        1, 2.5, "a", "b", true, nil, [1, "a"], ["b": 1], [["b": 1], ["b": [2]]], .double(.nan),
      ]
      let conditions: [Condition] = [
        .comparison(.field("a"), .equal, .value(1)), .comparison(.field("a"), .less, .value("b")),
        .between(.field("a"), .value(1), .value(3)), .membership(.field("a"), [.value(true)]),
        .isNull(.field("a")), .not(.comparison(.field("a"), .greater, .value(1))),
        .comparison(.field("a.b"), .equal, .value(1)), .text(.field("a"), .beginsWith, .value("a")),
      ]
      func results() throws -> [[Int64]] {
        try conditions.flatMap { condition in
          try [[], [Ordering("a")], [Ordering("a", descending: true)]].map {
            try probe.ids(Query(condition, orderings: $0))
          }
        }
      }
      try probe.write { writer in
        for value in values { try writer.insert(["a": value]) }
        try writer.insert([:])
      }
      let expected = try results()
      var all = [
        IndexDefinition(columns: [.init("a")]), IndexDefinition(columns: [.init("a.b")]),
        IndexDefinition(columns: [.init("a", descending: true), .init("b")]),
      ]
      for kind in probe.indexKinds() where kind != .fields {
        all.append(IndexDefinition(columns: [.init("a")], kind: kind))
        all.append(IndexDefinition(columns: [.init("a.b")], kind: kind))
      }
      for index in all {
        try probe.write { try $0.createIndex(index, in: "c") }
        try expectEqual(try results(), expected, "with \(index.name)")
      }
      for index in all {
        _ = try probe.write { try $0.dropIndex(index.name, in: "c") }
        try expectEqual(try results(), expected, "without \(index.name)")
      }
    },
    Check("An index reflects updates and deletions") { probe in
      for kind in probe.indexKinds() {
        let name = "\(kind)"
        func counts() throws -> [Int] {
          var counts: [Int] = []
          for value in ["x", "y"] as [DocumentValue] {
            let query = Query(.comparison(.field("a"), .equal, .value(value)))
            counts.append(try probe.read { try $0.count(query, in: name) })
          }
          return counts
        }
        try probe.write { writer in
          try writer.createIndex(IndexDefinition(columns: [.init("a")], kind: kind), in: name)
        }
        try probe.insert(["a": "x"], key: "k", into: name)
        try probe.insert(["a": ["x", "y", "x"]], key: "l", into: name)
        try expectEqual(try counts(), [2, 1], "\(kind) after inserts")
        _ = try probe.write { try $0.save(["a": "y"], key: "k", in: name) }
        try expectEqual(try counts(), [1, 2], "\(kind) after a save")
        _ = try probe.write { try $0.delete(.key(try DocumentKey("l")), from: name) }
        try expectEqual(try counts(), [0, 1], "\(kind) after a deletion")
        _ = try probe.write { try $0.delete(Query(), from: name) }
        try expectEqual(try counts(), [0, 0], "\(kind) after deleting all documents")
      }
      try expectEqual(try probe.engine.verify(), [], "problems")
    },
  ]
}
