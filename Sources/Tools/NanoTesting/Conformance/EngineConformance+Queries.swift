// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  private static func fill(_ probe: Probe) throws -> [Int64] {
    try probe.write { writer in
      try [3, 1, 2, 1, nil].map { try writer.insert(["n": $0, "tags": ["a", $0]]) }
    }
  }

  static let queries: [Check] = [
    Check("Without an order, documents are returned by row ID") { probe in
      let ids = try fill(probe)
      try expectEqual(try probe.ids(), ids.sorted(), "all")
      try expectEqual(ids, ids.sorted(), "row IDs ascend")
    },
    Check("Limit and offset apply after sorting, and ties are ordered by row ID") { probe in
      let ids = try fill(probe)
      func positions(_ query: Query) throws -> [Int] {
        try probe.ids(query).map { id in ids.firstIndex(of: id) ?? -1 }
      }
      let up = [Ordering("n")]
      let down = [Ordering("n", descending: true)]
      try expectEqual(try positions(Query(orderings: up)), [4, 1, 3, 2, 0], "ascending")
      try expectEqual(try positions(Query(orderings: down)), [0, 2, 1, 3, 4], "descending")
      try expectEqual(try positions(Query(orderings: up, limit: 2, offset: 1)), [1, 3], "page")
      try expectEqual(try positions(Query(orderings: up, limit: 0)), [], "no document")
      try expectEqual(try positions(Query(orderings: up, offset: 4)), [0], "offset alone")
      let after = PagePosition(values: [.int(1)], rowID: ids[1])
      try expectEqual(try positions(Query(orderings: up, limit: 2, after: after)), [3, 2], "after")
      try expectEqual(
        try positions(Query(orderings: down, after: after)), [3, 4], "after, descending")
    },
    Check("Class names are listed once each, sorted, without those of deleted documents") {
      probe in
      try expectEqual(try probe.read { try $0.types(in: "c") }, [], "missing collection")
      try probe.write { writer in
        func insert(_ type: String?) throws -> Int64 {
          var body: [UInt8] = [0x7B, 0x7D]
          return try body.withUnsafeMutableBytes { bytes in
            try writer.insert(
              NewDocument(
                key: nil, type: type, added: 0, body: UnsafeRawBufferPointer(bytes)), into: "c")
          }
        }
        for type in ["b", nil, "é", "a", "b"] { _ = try insert(type) }
        _ = try writer.delete(.rowID(insert("gone")), from: "c")
        try expectEqual(try writer.types(in: "c"), ["a", "b", "é"], "in the transaction")
      }
      try expectEqual(
        try probe.read { try $0.types(in: "c") }, ["a", "b", "é"], "after the transaction")
    },
    Check("Count returns the number of documents that find returns, including limit and offset") {
      probe in
      _ = try fill(probe)
      let one = Condition.comparison(.field("n"), .equal, .value(.int(1)))
      try probe.read { reader in
        try expectEqual(try reader.count(Query(), in: "c"), 5, "all")
        try expectEqual(try reader.count(Query(one), in: "c"), 2, "a condition")
        try expectEqual(try reader.count(Query(limit: 3, offset: 4), in: "c"), 1, "a page")
      }
    },
    Check("Aggregates are computed over the results of the query") { probe in
      _ = try fill(probe)
      let all: [Aggregate] = [
        .count, .countOf("n"), .min("n"), .max("n"), .average("n"), .sum("n"),
      ]
      try probe.read { reader in
        let rows = try reader.aggregate(AggregateQuery(aggregates: all), in: "c")
        let values: [DocumentValue] = [.int(5), .int(5), .int(1), .int(3), .double(1.75), .int(7)]
        try expectEqual(rows, [AggregateRow(group: [], values: values)], "all")
        let groups = try reader.aggregate(
          AggregateQuery(groups: ["n"], aggregates: [.count]), in: "c")
        let counts: [(DocumentValue, Int64)] = [
          (.null, 1), (.int(1), 2), (.int(2), 1), (.int(3), 1),
        ]
        let expected = counts.map { AggregateRow(group: [$0.0], values: [.int($0.1)]) }
        try expectEqual(groups, expected, "groups in sort order")
        let page = AggregateQuery(
          Query(orderings: [Ordering("n")], limit: 2), aggregates: [.sum("n")])
        let total = try reader.aggregate(page, in: "c").first?.values
        try expectEqual(total, [.int(1)], "of a page")
      }
    },
    Check("Distinct values are sorted, and array elements are separate values") { probe in
      _ = try fill(probe)
      let values = try probe.read { try $0.distinct("tags", Query(), in: "c") }
      try expectEqual(values, [.null, .int(1), .int(2), .int(3), .string("a")], "values")
    },
    Check("Deleting by query deletes exactly the results of the query") { probe in
      let ids = try fill(probe)
      let query = Query(orderings: [Ordering("n", descending: true)], limit: 2)
      try expectEqual(try probe.write { try $0.delete(query, from: "c") }, 2, "deleted")
      try expectEqual(try probe.ids(), [ids[1], ids[3], ids[4]], "remaining documents")
      try expectEqual(
        try probe.write { try $0.delete(Query(), from: "c") }, 3, "all remaining documents")
    },
    Check("Find stops when the closure returns false") { probe in
      _ = try fill(probe)
      var visited = 0
      try probe.read { reader in
        try reader.find(Query(), in: "c") { _ in
          visited += 1
          return visited < 2
        }
      }
      try expectEqual(visited, 2, "visited documents")
    },
    Check("An error thrown by the closure is rethrown unchanged, and the engine remains usable") {
      probe in
      struct Stop: Error {}
      _ = try fill(probe)
      do {
        try probe.read { reader in try reader.find(Query(), in: "c") { _ in throw Stop() } }
        try expect(false, "nothing was thrown")
      } catch is Stop {}
      try expectEqual(try probe.ids().count, 5, "documents")
    },
    Check("Queries can be nested") { probe in
      let ids = try fill(probe)
      var pairs = 0
      try probe.read { reader in
        try reader.find(Query(), in: "c") { outer in
          let outerID = outer.rowID
          try reader.find(Query(), in: "c") { inner in
            if inner.rowID == outerID { pairs += 1 }
            return true
          }
          try expect(outer.rowID == outerID && !outer.body.isEmpty, "the outer document changed")
          return true
        }
      }
      try expectEqual(pairs, ids.count, "pairs")
    },
    Check("An invalid regular expression is rejected") { probe in
      _ = try fill(probe)
      let query = Query(.text(.field("tags"), .regexp, .value(.string("("))))
      try expectError(.invalidArgument, "find") { _ = try probe.ids(query) }
      try expectEqual(try probe.ids().count, 5, "documents")
    },
  ]
}
