// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  static let fullTextIndexes: [Check] = [
    Check("A text index is created, listed and dropped; creating it twice has no effect") { probe in
      guard probe.has(.fullTextIndexes) else {
        try expectError(.unsupported, "an unsupported text index") {
          try probe.write { try $0.createFullTextIndex(.init(fields: ["a"]), in: "c") }
        }
        return
      }
      let words = FullTextIndexDefinition(fields: ["a", "b.c"])
      let parts = FullTextIndexDefinition(name: "it's \"x\"", fields: ["a"], tokens: .substrings)
      try probe.write { writer in
        for index in [words, parts, words] { try writer.createFullTextIndex(index, in: "c") }
        try expectError(.alreadyExists, "a different definition") {
          try writer.createFullTextIndex(.init(name: words.name, fields: ["b"]), in: "c")
        }
        try expectError(.alreadyExists, "the name of a text index") {
          try writer.createIndex(IndexDefinition(name: words.name, columns: [.init("a")]), in: "c")
        }
        try writer.createIndex(IndexDefinition(name: "i", columns: [.init("a")]), in: "c")
        try expectError(.alreadyExists, "the name of an index") {
          try writer.createFullTextIndex(.init(name: "i", fields: ["a"]), in: "c")
        }
      }
      try expectEqual(
        try probe.read { try $0.fullTextIndexes(in: "c") }, [words, parts], "text indexes")
      try expectEqual(try probe.read { try $0.indexes(in: "c") }.map(\.name), ["i"], "indexes")
      try probe.write { writer in
        try expect(try writer.dropIndex(words.name, in: "c"), "dropped")
        try expect(try !writer.dropIndex(words.name, in: "c"), "dropped twice")
        try expectEqual(try writer.dropIndexes(in: "c"), 2, "dropped indexes")
      }
      try expectEqual(
        try probe.read { try $0.fullTextIndexes(in: "c") }, [], "text indexes after dropping")
      try expectEqual(try probe.engine.verify(), [], "problems")
    },
    Check("Invalid text indexes and searches without an index are rejected") { probe in
      guard probe.has(.fullTextIndexes) else { return }
      try probe.insert(["a": "gin"])
      for fields in [[], ["a", "a"]] as [[FieldPath]] {
        try expectError(.invalidArgument, "\(fields)") {
          try probe.write { try $0.createFullTextIndex(.init(name: "i", fields: fields), in: "c") }
        }
      }
      try expectError(.unsupported, "an element") {
        try probe.write { try $0.createFullTextIndex(.init(fields: ["a.0"]), in: "c") }
      }
      for search in [Condition.search("gin"), .search("gin", in: "i"), !.search("gin")] {
        try expectError(.invalidArgument, "\(search)") { _ = try probe.ids(Query(search)) }
      }
      try probe.write { writer in
        try writer.createFullTextIndex(.init(fields: ["a"]), in: "c")
        try writer.createFullTextIndex(.init(name: "other", fields: ["b"]), in: "c")
      }
      try expectError(.invalidArgument, "two") { _ = try probe.ids(Query(.search("gin"))) }
      try expectEqual(try probe.ids(Query(.search("gin", in: "a_text"))), [1], "one of two")
      try expectError(.invalidArgument, "a field that is not in the index") {
        _ = try probe.ids(Query(.search(.field("z", .phrase("gin")), in: "a_text")))
      }
    },
    Check("A text index reflects inserts, saves and deletions immediately") { probe in
      guard probe.has(.fullTextIndexes) else { return }
      try probe.write { writer in
        try writer.insert(["a": "gin tonic"], key: "old", into: "c")
        try writer.createFullTextIndex(.init(fields: ["a"]), in: "c")
        try writer.createFullTextIndex(
          .init(name: "parts", fields: ["a"], tokens: .substrings), in: "c")
      }
      func found(_ reader: any EngineReader, _ text: String) throws -> [[Int64]] {
        try ["a_text", "parts"].map { try reader.ids(Query(.search(text, in: $0))) }
      }
      try probe.write { writer in
        try expectEqual(try found(writer, "gin"), [[1], [1]], "existing documents")
        try writer.insert(["a": "Gin fizz"], key: "k", into: "c")
        try writer.insert(["a": ["rum", "more gin"]], into: "c")
        try expectEqual(try found(writer, "gin"), [[1, 2, 3], [1, 2, 3]], "after inserts")
        try writer.save(["a": "rum"], key: "k", in: "c")
        try writer.save(["a": "sloe gin"], key: "new", in: "c")
        try writer.save(["a": "sloe"], key: "new", in: "c")
        try expectEqual(try found(writer, "gin"), [[1, 3], [1, 3]], "after saves")
        try expectEqual(try found(writer, "sloe"), [[4], [4]], "after a second save")
        _ = try writer.delete(.rowID(3), from: "c")
        try writer.insert(["a": "last gin"], key: "last", into: "c")
        _ = try writer.delete(.key(try DocumentKey("last")), from: "c")
        try expectEqual(try found(writer, "gin"), [[1], [1]], "after deletions")
        try expectError(.duplicateKey, "a key twice") {
          try writer.insert(["a": "twice gin"], key: "k", into: "c")
        }
        try writer.rolledBack {
          try writer.insert(["a": "undone gin"], into: "c")
          try expectEqual(try found(writer, "undone").map(\.count), [1, 1], "in the savepoint")
        }
        try expectEqual(try found(writer, "undone"), [[], []], "after a savepoint")
        try writer.insert(["b": 1], into: "c")
      }
      try probe.write { writer in
        try expectEqual(try writer.delete(Query(.search("rum", in: "parts")), from: "c"), 1, "rum")
      }
      try expectEqual(try probe.read { try found($0, "gin") }, [[1], [1]], "after the transaction")
      try expectEqual(try probe.engine.verify(), [], "problems")
      try probe.write { try $0.rebuildIndexes(in: "c", nil) }
      try expectEqual(try probe.read { try found($0, "gin") }, [[1], [1]], "rebuilt")
    },
    Check("Searches combine with other conditions") { probe in
      guard probe.has(.fullTextIndexes) else { return }
      try probe.write { writer in
        try writer.createFullTextIndex(.init(fields: ["a", "b"]), in: "c")
        for (text, number) in [("gin", 1), ("gin tonic", 2), ("rum", 3), ("tonic", 4)] {
          try writer.insert(["a": .string(text), "n": .int(Int64(number))], into: "c")
        }
        try writer.insert(["n": 5], into: "c")
      }
      let many: Condition = .comparison(.field("n"), .greater, .value(1))
      let odd: Condition = .membership(.field("n"), [.value(1), .value(3), .value(5)])
      let expectations: [(Condition, [Int64])] = [
        (.all([.search("gin"), many]), [2]), (.any([.search("gin"), odd]), [1, 2, 3, 5]),
        (.not(.search("gin")), [3, 4, 5]), (.not(.any([.search("gin"), many])), []),
        (.all([.search("tonic"), .not(.search("gin"))]), [4]),
        (.any([.all([.search("gin"), odd]), .all([.search("rum"), many])]), [1, 3]),
        (.all([many, .any([.not(.search("tonic")), odd])]), [3, 5]),
      ]
      for (condition, expected) in expectations {
        try expectEqual(try probe.ids(Query(condition)), expected, "\(condition.queryText)")
        let count = try probe.read { try $0.count(Query(condition), in: "c") }
        try expectEqual(count, expected.count, "count of \(condition.queryText)")
      }
      let sorted = Query(.search("tonic"), orderings: [.reverse("n")], limit: 1)
      try expectEqual(try probe.ids(sorted), [4], "sorted and limited")
    },
    Check("Ranked results are ordered by rank, then limited to the page") { probe in
      guard probe.has(.fullTextIndexes) else { return }
      try probe.write { writer in
        try writer.createFullTextIndex(.init(fields: ["a", "b"]), in: "c")
        for (a, b) in [
          ("a long text in which gin appears once", "x"), ("gin", "y"), ("y", "gin gin"),
          ("rum", "rum"), ("gin", "y"), ("rum", "whisky"), ("", "vodka"), ("z", "z"),
        ] { try writer.insert(["a": .string(a), "b": .string(b)], into: "c") }
      }
      var query = Query(.search("gin"), ranking: FullTextRanking())
      var ranks: [Double] = []
      var ids: [Int64] = []
      try probe.read { reader in
        try reader.findRanked(query, in: "c") {
          ids.append($0.rowID)
          ranks.append($1)
          return true
        }
      }
      try expectEqual(ids, [3, 2, 5, 1], "by rank, then by row ID")
      try expect(ranks == ranks.sorted(by: >) && ranks.allSatisfy { $0 > 0 }, "ranks \(ranks)")
      try expectEqual(ranks[1], ranks[2], "equal documents")
      query.offset = 1
      query.limit = 2
      try expectEqual(try probe.ids(query), [2, 5], "a page")
      query.condition = .all([query.condition, .comparison(.field("b"), .equal, .value("y"))])
      try expectEqual(try probe.ids(query), [5], "a page of the documents that match a condition")
      query = Query(.search("gin"), limit: 2, ranking: FullTextRanking(weights: ["a": 100]))
      try expectEqual(try probe.ids(query), [2, 5], "with weights")
      try expectEqual(try probe.read { try $0.count(query, in: "c") }, 2, "count of a page")
      let values = try probe.read { try $0.distinct("b", query, in: "c") }
      try expectEqual(values, ["y"], "distinct values of a page")
      try expectEqual(try probe.write { try $0.delete(query, from: "c") }, 2, "deleted")
      try expectEqual(try probe.ids(Query(.search("gin"))), [1, 3], "remaining documents")
    },
  ]
}
