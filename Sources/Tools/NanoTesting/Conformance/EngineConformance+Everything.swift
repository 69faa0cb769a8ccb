// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  static let everythingIndex: [Check] = [
    Check("The indexing policy can be read and changed") { probe in
      try probe.insert(["a": 1])
      try expectEqual(try probe.indexing(), .declared, "initially")
      try expectEqual(
        try probe.read { try $0.indexing(in: "none") }, .declared, "missing collection")
      guard probe.has(.everythingIndex) else {
        try expectError(.unsupported, "an unsupported policy") {
          try probe.setIndexing(.everything)
        }
        return
      }
      for policy in [.everything, .everything, .declared, .declared] as [IndexingPolicy] {
        try probe.setIndexing(policy)
        try expectEqual(try probe.indexing(), policy, "the policy")
      }
    },
    Check("Indexing everything does not change query results, whenever it is enabled or disabled") {
      probe in
      guard probe.has(.everythingIndex) else { return }
      for (number, value) in Self.values.enumerated() {
        try probe.insert(["a": value, "n": .int(Int64(number))], key: "k\(number)")
      }
      let expected = try probe.results()
      for policy in [.everything, .declared, .everything] as [IndexingPolicy] {
        try probe.setIndexing(policy)
        try expectEqual(try probe.results(), expected, policy.rawValue)
      }
      try probe.write { writer in
        for (number, value) in Self.values.reversed().enumerated() {
          try writer.save(["a": value, "n": .int(Int64(number))], key: "k\(number)")
        }
      }
      let changed = try probe.results()
      try probe.setIndexing(.declared)
      try expectEqual(try probe.results(), changed, "after saves")
      try probe.setIndexing(.everything)
      _ = try probe.write { try $0.delete(Query(Self.conditions[0]), from: "c") }
      let afterDeletion = try probe.results()
      try probe.setIndexing(.declared)
      try expectEqual(try probe.results(), afterDeletion, "after deletions")
      try expectEqual(try probe.engine.verify(), [], "problems")
    },
    Check("An error in the progress closure rolls back the change of policy") { probe in
      guard probe.has(.everythingIndex) else { return }
      struct Stop: Error {}
      try probe.insert(["a": "x"])
      do {
        try probe.write { try $0.setIndexing(.everything, in: "c") { _ in throw Stop() } }
        try expect(false, "nothing was thrown")
      } catch is Stop {}
      try expectEqual(try probe.indexing(), .declared, "the policy")
      try probe.write { writer in
        do { try writer.setIndexing(.everything, in: "c") { _ in throw Stop() } } catch is Stop {}
        try writer.insert(["a": "x"])
      }
      try expectEqual(try probe.indexing(), .declared, "the policy")
      try expectEqual(try probe.ids(Query(Self.conditions[0])), [1, 2], "documents")
    },
    Check("Indexes can be rebuilt, and all of them dropped") { probe in
      let index = IndexDefinition(columns: [.init("a")])
      try probe.insert(["a": "x"])
      try probe.write { try $0.createIndex(index, in: "c") }
      if probe.has(.everythingIndex) { try probe.setIndexing(.everything) }
      var last = 0.0
      try probe.write { try $0.rebuildIndexes(in: "c") { last = $0 } }
      try expectEqual(last, 1, "progress")
      try expectEqual(try probe.read { try $0.indexes(in: "c") }, [index], "indexes")
      try expectEqual(try probe.ids(Query(Self.conditions[0])), [1], "found")
      try expectEqual(try probe.write { try $0.dropIndexes(in: "c") }, 1, "dropped")
      try expectEqual(try probe.read { try $0.indexes(in: "c") }, [], "indexes")
      try expectEqual(try probe.indexing(), .declared, "the policy")
      try expectEqual(try probe.ids(Query(Self.conditions[0])), [1], "found")
    },
  ]

  fileprivate static let values: [DocumentValue] = [
    "x", 1, 1.5, true, nil, ["x", ["b": "x"]], ["b": ["c": "x", "d": 2]], .double(.nan), "xy", [],
    .string(String(repeating: "x", count: 100)),
  ]
  fileprivate static let conditions: [Condition] = [
    .leaf(Field(.element) == "x"), .leaf(Field(.element) > 1), .leaf(Field(.element).isNull),
    .leaf(Field(.element).hasPrefix("x")), Field("a") == "x", Field("a.b") == "x",
    Field("a") >= "x", Field("a").isIn([1, true]), Field("a").isBetween(0, and: 2),
    .leaf(
      .all([
        .text(.attribute(.leafPath), .endsWith, .value(".c")), Field(.element) == "x",
      ])),
    .not(.leaf(Field(.element) == "x")),
  ]
}

extension Probe {
  fileprivate func indexing() throws -> IndexingPolicy { try read { try $0.indexing(in: "c") } }
  fileprivate func setIndexing(_ policy: IndexingPolicy) throws {
    try write { try $0.setIndexing(policy, in: "c", nil) }
  }
  fileprivate func results() throws -> [[Int64]] {
    try EngineConformance.conditions.map { try ids(Query($0)) }
  }
}
