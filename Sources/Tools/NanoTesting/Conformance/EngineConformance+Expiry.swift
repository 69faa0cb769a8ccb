// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension Probe {
  private static let minute: Int64 = 60_000_000

  /// A time that has passed, and one that will not come during a check.
  fileprivate var past: Int64 { engine.clock.now() - Self.minute }
  fileprivate var future: Int64 { engine.clock.now() + Self.minute }

  /// Sets when documents expire, in a transaction that deletes no other ones.
  fileprivate func expire(_ rowIDs: [Int64], at time: Int64?) throws {
    try write { try $0.setExpirations(rowIDs.map { ($0, time) }, in: "c") }
  }

  fileprivate func setRule(_ rule: ExpirationRule?) throws {
    try write { writer in
      var settings = try writer.settings(of: "c")
      settings.expiration = rule
      try writer.setSettings(settings, of: "c")
    }
  }

  /// Runs a transaction as the store does.
  fileprivate func sweepingWrite<Result>(
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try write { writer in
      writer.expiry.sweeps = true
      return try work(writer)
    }
  }

  fileprivate func times(_ rowIDs: [Int64]) throws -> [Int64: Int64] {
    try read { try $0.expirations(ofRows: rowIDs, in: "c") }
  }
}

extension EngineConformance {
  static let expiry: [Check] = [
    expiryCheck("An expired document is invisible to every read, before it is deleted") { probe in
      let kept = try probe.insert(["n": 1, "t": "kept"], key: "a")
      let gone = try probe.insert(["n": 2, "t": "gone"], key: "b")
      let later = try probe.insert(["n": 3, "t": "kept"], key: "d")
      try probe.expire([gone], at: probe.past)
      try probe.expire([later], at: probe.future)
      try expectEqual(try probe.ids(), [kept, later], "find")
      try probe.read { reader in
        try expect(try reader.document(.key(DocumentKey("b"))) == nil, "get by key")
        try expect(try reader.document(.rowID(gone)) == nil, "get by row ID")
        try expect(try reader.document(.key(DocumentKey("d"))) != nil, "not yet")
        var keys: [Int64] = []
        try reader.get(keys: [DocumentKey("a"), DocumentKey("b")], in: "c") {
          keys.append($0.rowID)
        }
        try expectEqual(keys, [kept], "get by keys")
        for ids in [[kept, gone], [kept, gone, later], [kept, later]] {
          var rowIDs: [Int64] = []
          try reader.get(rowIDs: ids, in: "c") { rowIDs.append($0.rowID) }
          try expectEqual(rowIDs.sorted(), ids.filter { $0 != gone }, "get by row IDs")
        }
        try expectEqual(try reader.count(Query(), in: "c"), 2, "count")
        try expectEqual(try reader.rowIDs(Query(), in: "c").rowIDs, [kept, later], "row IDs")
        try expect(try reader.version(ofRow: gone, in: "c") == nil, "version")
        try expectEqual(
          try reader.ids(Query(orderings: [.reverse("n")], limit: 2)), [later, kept], "sorted page")
        try expectEqual(try reader.ids(Query(Field("n") >= 2)), [later], "condition")
        try expectEqual(
          try reader.distinct("t", Query(), in: "c"), [.string("kept")], "distinct")
        let rows = try reader.aggregate(
          AggregateQuery(groups: ["t"], aggregates: [.count, .sum("n")]), in: "c")
        try expectEqual(rows.map(\.values), [[.int(2), .int(4)]], "aggregates")
        var bodies = 0
        try reader.contents(Query(), in: "c", withKeys: true) { _ in
          bodies += 1
          return true
        }
        try expectEqual(bodies, 2, "contents")
      }
      try expect(
        try !probe.engine.get(.key(DocumentKey("b")), in: "c", nil) { _ in }, "get without a block")
      var found: [Int64] = []
      try probe.engine.get(keys: [DocumentKey("a"), DocumentKey("b")], in: "c", nil) {
        found.append($0.rowID)
      }
      try expectEqual(found, [kept], "keys without a block")
    },
    expiryCheck("Indexes of every kind find no expired document") { probe in
      let kept = try probe.insert(["n": 1, "tags": ["x"], "text": "blue sky"])
      let gone = try probe.insert(["n": 1, "tags": ["x"], "text": "blue sea"])
      try probe.write { writer in
        for kind in probe.indexKinds() {
          let field: FieldPath = kind == .elements ? "tags" : "n"
          try writer.createIndex(IndexDefinition(columns: [.init(field)], kind: kind), in: "c")
        }
        if probe.has(.everythingIndex) { try writer.setIndexing(.everything, in: "c", nil) }
      }
      try probe.expire([gone], at: probe.past)
      try expectEqual(try probe.ids(Query(Field("n") == 1)), [kept], "index on a field")
      try expectEqual(try probe.ids(Query(Field("tags") == "x")), [kept], "index on elements")
      try expectEqual(try probe.ids(Query(.leaf(Field(.element) == "x"))), [kept], "any field")
      guard probe.has(.fullTextIndexes) else { return }
      try probe.write {
        try $0.createFullTextIndex(FullTextIndexDefinition(fields: ["text"]), in: "c")
      }
      let search = FullTextSearch(.phrase("blue"))
      var query = Query(.search(search))
      try expectEqual(try probe.ids(query), [kept], "search")
      query.ranking = FullTextRanking()
      try expectEqual(try probe.ids(query), [kept], "ranked search")
    },
    expiryCheck("The key, row ID, and unique values of an expired document can be used again") {
      probe in
      let old = try probe.insert(["u": 1], key: "a")
      if probe.has(.uniqueIndexes) {
        try probe.write {
          try $0.createIndex(IndexDefinition(columns: [.init("u")], isUnique: true), in: "c")
        }
      }
      try probe.expire([old], at: probe.past)
      let (new, swept) = try probe.sweepingWrite { writer in
        (try writer.insert(["u": 1], key: "a"), writer.expiry.swept)
      }
      try expect(new != old, "a new row")
      try expectEqual(swept.map(\.collection), ["c"], "the collection of the deleted document")
      try expectEqual(
        swept.flatMap(\.documents), [.key(try DocumentKey("a"))], "the deleted document")
      try expectEqual(try probe.ids(), [new], "found")
      try expectEqual(try probe.times([old, new]), [:], "expirations")
    },
    expiryCheck("A deletion that a savepoint rolls back is not listed") { probe in
      struct Rollback: Error {}
      let old = try probe.insert(["n": 1], key: "a")
      try probe.expire([old], at: probe.past)
      let before = try probe.sweepingWrite { writer in
        do {
          try writer.savepoint {
            _ = try writer.save(["n": 2], key: "a")
            try expectEqual(
              writer.expiry.swept.flatMap(\.documents), [.key(try DocumentKey("a"))],
              "in the savepoint")
            throw Rollback()
          }
        } catch is Rollback {}
        return writer.expiry.swept.flatMap(\.documents)
      }
      try expectEqual(before, [], "after the rollback")
      let swept = try probe.sweepingWrite { writer in
        do {
          _ = try writer.save(["n": 2], key: "a")
          try writer.savepoint {
            writer.expiry.swept = []
            throw Rollback()
          }
        } catch is Rollback {}
        return writer.expiry.swept.flatMap(\.documents)
      }
      try expectEqual(swept, [.key(try DocumentKey("a"))], "deleted before the savepoint")
    },
    expiryCheck("Writes do not find an expired document, of which there may be many") { probe in
      let count = 2 * ExpiryLog.step + 50
      var rowIDs: [Int64] = []
      try probe.write { writer in
        for number in 0..<count {
          rowIDs.append(try writer.insert(["n": .int(Int64(number))], key: "k\(number)"))
        }
      }
      try probe.expire(rowIDs, at: probe.past)
      // The last ones are not deleted by the first use of the collection.
      let last = try DocumentKey("k\(count - 1)")
      try probe.sweepingWrite { writer in
        let replacement = GeneratedDocument(["n": -1], key: last)
        try expect(
          try !replacement.new { try writer.replace(.key(last), with: $0, in: "c") }, "replace")
        try expect(try !writer.delete(.key(try DocumentKey("k\(count - 2)")), from: "c"), "delete")
        try expectEqual(try writer.delete(Query(), from: "c"), 0, "delete by query")
        let saved = try writer.save(["n": -2], key: "k\(count - 3)")
        try expect(!rowIDs.contains(saved), "save inserts")
        var batch: [Int64] = []
        try writer.insert(
          all: (4...8).map {
            GeneratedDocument(["n": -3], key: try! DocumentKey("k\(count - $0)"))
          },
          &batch)
        try expect(Set(batch).isDisjoint(with: rowIDs), "insert a batch")
      }
      try expectEqual(try probe.ids().count, 6, "found")
    },
    expiryCheck("Expired documents are deleted in steps, each reported once") { probe in
      let rowIDs = try (0..<5).map { try probe.insert(["n": .int($0)], key: "k\($0)") }
      try probe.expire(Array(rowIDs[0...2]), at: probe.past)
      try probe.expire([rowIDs[3]], at: probe.future)
      var swept: Set<Identity> = []
      for expected in [2, 1, 0] {
        let log = try probe.write { writer in
          try expectEqual(try writer.sweepExpired(limit: 2, from: "c"), expected, "deleted")
          return writer.expiry
        }
        for document in log.swept.flatMap(\.documents) {
          try expect(swept.insert(document).inserted, "reported once")
        }
      }
      try expectEqual(swept, Set(try (0...2).map { .key(try DocumentKey("k\($0)")) }), "reported")
      try expectEqual(try probe.ids(), Array(rowIDs[3...]), "left")
      try expectEqual(
        try probe.read { try $0.earliestExpiration(after: nil, in: "c") },
        try probe.times([rowIDs[3]])[rowIDs[3]], "earliest")
    },
    expiryCheck(
      "A document keeps its expiration when it is replaced, and loses it when it is deleted"
    ) {
      probe in
      let (rowID, time) = (try probe.insert(["n": 1], key: "a"), probe.future)
      try expectEqual(try probe.times([rowID]), [:], "none")
      let earliest = try probe.write { writer in
        try writer.setExpirations([(rowID, time), (rowID + 1, time)], in: "c")
        return writer.expiry.earliest
      }
      try expectEqual(earliest, time, "the earliest one set")
      try probe.write { _ = try $0.save(["n": 2], key: "a") }
      try expectEqual(try probe.times([rowID, rowID + 1]), [rowID: time], "after saving")
      try expectEqual(try probe.read { try $0.expiringCollections() }, ["c"], "collections")
      try expectEqual(
        try probe.read { try $0.earliestExpiration(after: time, in: "c") }, nil, "later")
      try probe.expire([rowID], at: nil)
      try expectEqual(try probe.times([rowID]), [:], "cleared")
      try probe.expire([rowID], at: time)
      try probe.write { _ = try $0.delete(.rowID(rowID), from: "c") }
      try probe.write { writer in
        try GeneratedDocument(["n": 3]).new { document in
          var document = document
          document.rowID = rowID
          _ = try writer.insert(document, into: "c")
        }
      }
      try expectEqual(try probe.times([rowID]), [:], "of another document with the row ID")
    },
    expiryCheck("A rule applies to every written document, and to the existing ones") { probe in
      let date = { (time: Int64) in DocumentValue.date(.init(microsecondsSince1970: time)) }
      // Whole seconds, which dates represent exactly.
      let future = probe.future / 1_000_000 * 1_000_000
      let first = try probe.insert(["at": date(future)], key: "a")
      let never = try probe.insert(["at": "text"], key: "b")
      try probe.setRule(.field("at", after: .seconds(5)))
      let expected = future + 5_000_000
      try expectEqual(try probe.times([first, never]), [first: expected], "existing documents")
      let (saved, nested) = try probe.sweepingWrite { writer in
        (
          try writer.save(["at": date(future - 1_000_000)], key: "a"),
          try writer.insert(["at": ["deep": date(future)]], key: "d")
        )
      }
      try expectEqual(try probe.times([saved, nested]), [saved: expected - 1_000_000], "written")
      var batch: [Int64] = []
      try probe.sweepingWrite { writer in
        try writer.insert(
          all: (0..<30).map { GeneratedDocument(["at": date(future), "n": .int($0)]) }, &batch)
      }
      try expectEqual(
        try probe.times(batch), Dictionary(uniqueKeysWithValues: batch.map { ($0, expected) }),
        "batch")
      try probe.sweepingWrite { _ = try $0.save(["n": 0], key: "a") }
      try expectEqual(try probe.times([saved]), [:], "without the field")
      let (before, after) = (probe.engine.clock.now(), try probe.insertAfterRule())
      let time = try probe.times([after])[after] ?? 0
      try expect(
        time >= before + 60_000_000 && time <= probe.engine.clock.now() + 60_000_000,
        "after the write")
      try expectEqual(
        try probe.read { try $0.settings(of: "c").expiration }, .after(.seconds(60)), "the rule")
      try probe.setRule(nil)
      try expectEqual(try probe.times([after, never] + batch), [:], "without a rule")
    },
    expiryCheck("A rule that cannot be stored is rejected") { probe in
      try probe.insert(["n": 1])
      for rule in [
        ExpirationRule.after(.zero), .after(.seconds(-1)), .after(.seconds(1e12 as Double)),
        .field("a\"b"), .field(FieldPath(components: ["a", "0"])),
      ] {
        try expectError(.invalidArgument, "\(rule)") { try probe.setRule(rule) }
      }
      try expectError(.invalidPath, "an empty name") { try probe.setRule(.field("a..b")) }
      try expect(try probe.read { try $0.settings(of: "c").expiration } == nil, "unchanged")
    },
    expiryCheck("Expirations and rules of a failed transaction are rolled back") { probe in
      struct Rollback: Error {}
      let rowID = try probe.insert(["n": 1])
      for isEnabled in [false, true] {
        if isEnabled { try probe.expire([rowID], at: probe.future) }
        let before = try probe.times([rowID])
        do {
          try probe.write { writer in
            try writer.setExpirations([(rowID, probe.past)], in: "c")
            throw Rollback()
          }
        } catch is Rollback {}
        do {
          try probe.write { writer in
            try writer.setSettings(CollectionSettings(expiration: .after(.seconds(1))), of: "c")
            throw Rollback()
          }
        } catch is Rollback {}
        try expectEqual(try probe.times([rowID]), before, "expirations")
        try expectEqual(try probe.ids(), [rowID], "found")
      }
    },
    expiryCheck("Dropping a collection removes its expirations") { probe in
      let rowID = try probe.insert(["n": 1])
      try probe.expire([rowID], at: probe.past)
      try probe.write { _ = try $0.dropCollection("c") }
      let new = try probe.insert(["n": 2])
      try expectEqual(try probe.ids(), [new], "found")
      try expectEqual(try probe.read { try $0.expiringCollections() }, [], "collections")
    },
    expiryCheck("Expirations survive reopening the database") { probe in
      guard probe.has(.durable) else { return }
      let (gone, kept) = (try probe.insert(["n": 1]), try probe.insert(["n": 2]))
      try probe.expire([gone], at: probe.past)
      let time = probe.future
      try probe.expire([kept], at: time)
      try expect(probe.engine.hasExpirations, "known after setting")
      try probe.reopen()
      try expect(probe.engine.hasExpirations, "known after opening")
      try expectEqual(try probe.ids(), [kept], "found")
      try expectEqual(try probe.times([kept]), [kept: time], "time")
    },
    expiryCheck("A deleted expired document is a deletion in the change feed") { probe in
      guard probe.has(.changeTracking) else { return }
      try probe.write { try $0.setTracking(FeedState(timeline: 1), of: "c") }
      let rowID = try probe.insert(["n": 1], key: "a")
      try probe.expire([rowID], at: probe.past)
      _ = try probe.write { try $0.sweepExpired(limit: 10, from: "c") }
      let rows = try probe.read {
        try $0.feedRows(after: .start, limit: 10, settledOnly: false, in: "c").rows
      }
      try expectEqual(rows.map(\.rowID), [rowID], "row")
      try expect(rows.allSatisfy(\.isDeleted), "deleted")
      try expectEqual(rows.map { $0.key?.description }, ["a"], "key")
    },
  ]

  /// A check that engines without ``Capabilities/expiration`` pass.
  private static func expiryCheck(
    _ name: String, _ run: @escaping @Sendable (Probe) throws -> Void
  ) -> Check {
    Check(name) { probe in
      guard probe.has(.expiration) else { return }
      try run(probe)
    }
  }
}

extension Probe {
  /// Sets a rule of a minute after the last write, and inserts a document.
  fileprivate func insertAfterRule() throws -> Int64 {
    try setRule(.after(.seconds(60)))
    return try insert(["n": 1])
  }
}
