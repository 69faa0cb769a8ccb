// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension Probe {
  /// Turns tracking of a collection on.
  fileprivate func track(_ collection: String = "c", timeline: Int64 = 1) throws {
    try write { try $0.setTracking(FeedState(timeline: timeline), of: collection) }
  }

  fileprivate func delete(_ rowID: Int64) throws {
    _ = try write { try $0.delete(.rowID(rowID), from: "c") }
  }
}

/// A reader of a change feed, which knows the documents that the entries so far describe.
private struct FeedConsumer {
  var cursor = FeedCursor.start
  var revisions: [Int64: Int64] = [:]
  var keys: [Int64: DocumentKey?] = [:]
  var deleted: [Int64: DocumentKey?] = [:]

  /// Reads pages to the end; a server may delay entries until earlier transactions have ended.
  mutating func catchUp(_ probe: Probe, limit: Int = 1_000) throws {
    var isComplete = false
    while !isComplete {
      let found = try probe.read {
        try $0.feedRows(after: cursor, limit: limit, settledOnly: false, in: "c")
      }
      for row in found.rows {
        cursor.advance(row)
        if row.isDeleted {
          (revisions[row.rowID], keys[row.rowID]) = (nil, nil)
          deleted[row.rowID] = row.key
        } else {
          (revisions[row.rowID], keys[row.rowID]) = (row.revision ?? 0, row.key)
        }
      }
      isComplete = found.rows.count < limit && !found.isDelayed
    }
  }

  /// Expects that the reader knows exactly the stored documents.
  func expectCurrent(_ probe: Probe, _ what: String, line: UInt = #line) throws {
    var stored: [Int64: Int64] = [:]
    var storedKeys: [Int64: DocumentKey?] = [:]
    try probe.read { reader in
      try reader.find(Query(), in: "c") {
        (stored[$0.rowID], storedKeys[$0.rowID]) = ($0.revision ?? 0, $0.key)
        return true
      }
    }
    try expectEqual(revisions, stored, what, line: line)
    try expectEqual(keys, storedKeys, what, line: line)
  }
}

extension EngineConformance {
  static let feeds: [Check] = [
    Check("Without tracking there is no feed") { probe in
      try probe.insert(["a": 1])
      let (feed, rows) = try probe.read {
        (
          try $0.feed(of: "c"),
          try $0.feedRows(after: .start, limit: 5, settledOnly: false, in: "c")
        )
      }
      try expectEqual(feed, nil, "the feed")
      try expectEqual(rows.rows, [], "its entries")
      guard !probe.has(.changeTracking) else { return }
      try expectError(.unsupported, "tracking") { try probe.track() }
    },
    Check("A feed lists each document once, with its newest state, in the order of changes") {
      probe in
      guard probe.has(.changeTracking) else { return }
      let old = try (0..<3).map { try probe.insert(["n": .int($0)], key: "old \($0)") }
      try probe.track()
      try probe.track(timeline: 2)
      try expectEqual(try probe.read { try $0.feed(of: "c")?.timeline }, 1, "the timeline")
      var consumer = FeedConsumer()
      try consumer.catchUp(probe)
      try expectEqual(consumer.revisions.keys.sorted(), old, "documents from before")
      let new = try probe.insert(["n": 9], key: "new")
      _ = try probe.write { try $0.save(["n": 10], key: "old 1") }
      _ = try probe.write { try $0.save(["n": 11], key: "old 1") }
      try probe.delete(old[0])
      let rows = try probe.read {
        try $0.feedRows(after: consumer.cursor, limit: 10, settledOnly: false, in: "c").rows
      }
      try expectEqual(rows.map(\.rowID), [new, old[1], old[0]], "the changed documents")
      try expectEqual(rows.map(\.isDeleted), [false, false, true], "deletions")
      try expectEqual(
        rows.map { $0.key?.description }, ["new", "old 1", "old 0"], "the keys, also of deletions")
      try expectEqual(rows.map(\.revision), [1, 3, nil], "the revisions")
    },
    Check("A reader that continues at any time knows the stored documents") { probe in
      guard probe.has(.changeTracking) else { return }
      var random = SplitMix(seed: 21)
      try probe.insert(["n": 0], key: "0")
      try probe.track()
      var consumers = [FeedConsumer(), FeedConsumer(), FeedConsumer()]
      for step in 0..<200 {
        try FeedProgram.step(probe, &random)
        let index = Int.random(in: 0..<consumers.count * 3, using: &random)
        guard index < consumers.count else { continue }
        try consumers[index].catchUp(probe, limit: .random(in: 1...7, using: &random))
        try consumers[index].expectCurrent(probe, "the documents after step \(step)")
      }
      if probe.has(.durable) { try probe.reopen() }
      for index in consumers.indices {
        try consumers[index].catchUp(probe)
        try consumers[index].expectCurrent(probe, "the documents at the end")
      }
    },
    Check("Documents with row IDs that were reserved, or are chosen, come after other changes") {
      probe in
      guard probe.has(.changeTracking) else { return }
      try probe.insert(["n": 0], key: "0")
      try probe.track()
      var consumer = FeedConsumer()
      let reserved = try probe.write { try $0.nextRowID(in: "c") }
      for number in 1...3 as ClosedRange<Int64> {
        _ = try probe.write { try $0.save(["n": .int(number)], key: "0") }
      }
      try consumer.catchUp(probe)
      try GeneratedDocument(["n": 1]).new { new in
        let batch = (0..<NewDocument.batchSize).map { offset in
          var new = new
          new.rowID = reserved + Int64(offset)
          return new
        }
        try probe.write { writer in
          _ = try writer.nextRowID(in: "c")
          var ids: [Int64] = []
          try writer.insert(batch, into: "c", &ids)
        }
      }
      try consumer.catchUp(probe)
      try consumer.expectCurrent(probe, "the documents")
      for id in [-7, .max, 1_000] as [Int64] {
        do { _ = try probe.write { try $0.insert(at: id, ["n": 2]) } } catch let error as StoreError
          where error.code == .valueNotStorable && id == .max
        { continue }
        try consumer.catchUp(probe)
        _ = try probe.write { try $0.save(["n": 5], key: "0") }
        try consumer.catchUp(probe)
        try probe.insert(["n": 6])
        try consumer.catchUp(probe)
        try consumer.expectCurrent(probe, "the documents after row ID \(id)")
      }
    },
    Check("What is rolled back is not in the feed") { probe in
      guard probe.has(.changeTracking) else { return }
      let id = try probe.insert(["n": 0], key: "k")
      try probe.track()
      var consumer = FeedConsumer()
      try consumer.catchUp(probe)
      try probe.rolledBack { _ = try $0.save(["n": 1], key: "k") }
      try probe.write { writer in
        try writer.rolledBack {
          try writer.save(["n": 2], key: "k")
          _ = try writer.delete(.rowID(id), from: "c")
        }
        try writer.insert(["n": 3], key: "other")
      }
      let rows = try probe.read {
        try $0.feedRows(after: consumer.cursor, limit: 10, settledOnly: false, in: "c").rows
      }
      try expectEqual(rows.map { $0.key?.description }, ["other"], "the entries")
    },
    Check("Pruned deletions are gone, except the last one, and noted in the feed") { probe in
      guard probe.has(.changeTracking) else { return }
      let ids = try (0..<3).map { try probe.insert(["n": .int($0)]) }
      try probe.track()
      for id in ids { try probe.delete(id) }
      let rows = try probe.read {
        try $0.feedRows(after: .start, limit: 10, settledOnly: false, in: "c").rows
      }
      try expectEqual(rows.map(\.rowID), ids, "the deletions")
      let early = try probe.write { try $0.pruneTombstones(before: 1, in: "c") }
      try expectEqual(early, 0, "the number of those before 1970")
      let count = try probe.write { try $0.pruneTombstones(before: .max / 2, in: "c") }
      try expectEqual(count, 2, "the number of pruned deletions")
      let left = try probe.read {
        (
          try $0.feed(of: "c")?.pruned,
          try $0.feedRows(after: .start, limit: 10, settledOnly: false, in: "c").rows
        )
      }
      try expectEqual(left.0.map { .number($0) }, rows[1].place, "the pruned number")
      try expectEqual(left.1, [rows[2]], "the last deletion")
      let next = try probe.insert(["n": 9])
      let last = try probe.read { try $0.feedNumber(ofRow: rows[2].rowID, in: "c") } ?? 0
      let number = try probe.read { try $0.feedNumber(ofRow: next, in: "c") } ?? 0
      try expectEqual(number > last, true, "numbers continue")
    },
    Check("Tracking that is turned off and on begins another feed; dropping the collection ends it")
    { probe in
      guard probe.has(.changeTracking) else { return }
      let id = try probe.insert(["n": 0])
      try probe.track()
      try probe.write { try $0.setTracking(nil, of: "c") }
      try expectEqual(try probe.read { try $0.feed(of: "c") }, nil, "the feed")
      _ = try probe.write { try $0.save(["n": 5], key: "untracked") }
      try probe.track(timeline: 7)
      var consumer = FeedConsumer()
      try consumer.catchUp(probe)
      try consumer.expectCurrent(probe, "all documents")
      try expectEqual(consumer.revisions[id], 1, "the revision")
      try expectEqual(try probe.read { try $0.feed(of: "c")?.timeline }, 7, "the timeline")
      _ = try probe.write { try $0.dropCollection("c") }
      try expectEqual(
        try probe.read { try $0.feed(of: "c") }, nil, "the feed of a dropped collection")
      try probe.insert(["n": 1])
      try expectEqual(try probe.read { try $0.feed(of: "c") }, nil, "the feed of a new collection")
      try expectEqual(try probe.engine.verify(), [], "problems")
    },
    Check("The feed of a copy has the same entries and continues after them") { probe in
      guard probe.has(.changeTracking) else { return }
      let ids = try (0..<3).map { try probe.insert(["n": .int($0)], key: "\($0)") }
      try probe.write { writer in
        try writer.setTracking(FeedState(timeline: 5, pruned: 3), of: "c")
        try writer.setFeedRows(
          [
            // As a server reports documents from before tracking.
            FeedRow(
              rowID: ids[1], place: .number(0), key: nil, type: nil, revision: 1, deleted: nil),
            FeedRow(
              rowID: ids[2], place: .number(1_000_000), key: nil, type: nil, revision: 1,
              deleted: nil),
            FeedRow(
              rowID: 77, place: .number(1_000_001), key: try DocumentKey("gone"), type: "Film",
              revision: nil, deleted: 1_700_000_000),
          ], of: "c")
      }
      var consumer = FeedConsumer()
      try consumer.catchUp(probe)
      try consumer.expectCurrent(probe, "the documents")
      try expectEqual(
        consumer.deleted.map { "\($0.key) \($0.value?.description ?? "")" }, ["77 gone"],
        "deletions")
      try expectEqual(consumer.cursor.number, 1_000_001, "the position")
      _ = try probe.write { try $0.save(["n": 9], key: "0") }
      let rows = try probe.read {
        try $0.feedRows(after: consumer.cursor, limit: 10, settledOnly: false, in: "c").rows
      }
      try expectEqual(rows.map(\.rowID), [ids[0]], "later changes")
    },
  ]
}

/// Random changes of a tracked collection.
private enum FeedProgram {
  static func step(_ probe: Probe, _ random: inout SplitMix) throws {
    let key = "\(Int.random(in: 0..<20, using: &random))"
    let number = Int64.random(in: 0..<100, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1, 2: _ = try probe.write { try $0.save(["n": .int(number)], key: key) }
    case 3: try probe.insert(["n": .int(number)])
    case 4:
      let documents = (0..<25).map { GeneratedDocument(["n": .int(number + $0)]) }
      var ids: [Int64] = []
      try probe.write { try $0.insert(all: documents, into: "c", &ids) }
    case 5: _ = try probe.write { try $0.delete(.key(try DocumentKey(key)), from: "c") }
    case 6:
      let query = Query(.comparison(.field("n"), .equal, .value(.int(number))))
      _ = try probe.write { try $0.delete(query, from: "c") }
    case 7:
      try probe.rolledBack { _ = try $0.save(["n": -1], key: key) }
    case 8:
      try probe.write { writer in
        _ = try writer.delete(.key(try DocumentKey(key)), from: "c")
        try writer.save(["n": .int(number)], key: key)
      }
    default:
      let query = Query(.comparison(.field("n"), .lessOrEqual, .value(.int(number))), limit: 10)
      let ids = try probe.ids(query)
      _ = try probe.write { writer in
        for id in ids {
          _ = try GeneratedDocument(["n": .int(number)]).new {
            try writer.replace(.rowID(id), with: $0, in: "c")
          }
        }
      }
    }
  }
}
