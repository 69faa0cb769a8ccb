// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting
import NanoTestSupport
import Testing

/// Random operations on a file, read both through a cache and by SQL, which bypasses it.
@Suite("Cached reads compared with the file", .sqlite, .timeLimit(.minutes(10)))
struct CacheComparisonTests {
  @Test(
    "Cached reads match the file, and documents are current while their rows are unchanged",
    arguments: 0..<24)
  func programs(seed: Int) throws {
    var program = try CacheProgram(seed: UInt64(seed) &+ 1, size: [-1, 0, 3, 1_000][seed % 4])
    for step in 0..<150 {
      try program.step()
      try program.check("seed \(seed), step \(step)")
    }
    #expect(try program.cached.verify() == [])
  }
}

private struct CacheProgram {
  let scratch: Scratch
  let cached: Store
  let other: Store
  var random: SplitMix
  var size: Int
  /// Documents read through the cache, each with the incarnation it was read in.
  var held: [(document: Document, incarnation: Int64)] = []
  struct Undone: Error {}

  init(seed: UInt64, size: Int) throws {
    random = SplitMix(seed: seed)
    scratch = try Scratch()
    cached = try Store(.file(scratch.file("a.db")))
    other = try Store(.file(scratch.file("a.db")))
    self.size = size
    cached["c"].cacheSize = size
    try cached["c"].insert((0..<10).map { ["n": .int($0)] })
    if seed % 3 == 0 { try cached["c"].createIndex("n") }
  }

  private mutating func key() -> String { "k\(random.number(0...9))" }
  private mutating func number() -> DocumentValue { .int(Int64(random.number(0...9))) }

  mutating func step() throws {
    let store = random.oneIn(4) ? other : cached
    switch random.number(0...13) {
    case 0...3: break  // reads only
    case 4:
      try? store.write {
        try write(store)
        try write(store)
        try compare(cached, "in a transaction")
        if random.oneIn(2) { throw Undone() }
      }
    case 5:
      try store.write {
        try write(store)
        try? store.write {
          try write(store)
          try compare(store, "in a savepoint")
          throw Undone()
        }
        try write(store)
        try compare(store, "after a savepoint")
      }
    case 6:
      held.removeAll { _ in random.oneIn(2) }
    case 7: cached["c"].flushCache()
    case 8 where random.oneIn(3):
      size = random.pick([-1, 0, 2, 50])
      cached["c"].cacheSize = size
      held = []
    default: try write(store)
    }
  }

  private mutating func write(_ store: Store) throws {
    let c = store["c"]
    switch random.number(0...11) {
    case 0...1: try c.save(["n": number(), "by": "save"], key: key())
    case 2: try c.insert(["n": number()])
    case 3: _ = try? c.update(key(), set: ["n": number()])
    case 4: try c.delete(key())
    case 5: try c.find(Field("n") == number()).delete()
    case 6: try c.find(Field("n") == number()).update(set: ["n": number()])
    case 7: try store.execute("UPDATE c SET body = '{\"n\":3}' WHERE id % 7 = ?", number())
    case 8: try store.execute("UPDATE c SET type = 'T' WHERE id % 9 = ?", number())
    case 9 where random.oneIn(4): try c.deleteAll()
    case 10 where random.oneIn(5):
      try c.drop()
      try c.insert(["n": number()])
    default: try c.insert([["n": number()], ["n": number(), "more": true]])
    }
  }

  /// Checks that reads through the cache match the rows.
  private mutating func compare(_ store: Store, _ context: String) throws {
    let n = number()
    let rows = try store.sql(
      "SELECT id, key, type, revision, body FROM c WHERE json_extract(body, '$.n') >= ? ORDER BY id",
      SQLArguments([n]))
    let documents = try store["c"].find(Field("n") >= n).fetch()
    #expect(documents.map(\.rowID) == rows.map { $0["id"]?.int64 }, "\(context)")
    for (document, row) in zip(documents, rows) {
      try expect(document, row, context)
      if random.oneIn(4), let id = document.rowID, let single = try store["c"].get(rowID: id) {
        try expect(single, row, context)
      }
    }
    try compareLookups(store, context)
  }

  /// Checks single reads, which need not read at all if nothing was committed since the last one.
  private mutating func compareLookups(_ store: Store, _ context: String) throws {
    let key = key()
    let rows = try store.sql("SELECT id, type, revision, body FROM c WHERE key = ?", key)
    for _ in 0..<random.number(1...3) {
      let document = try store["c"].get(key)
      #expect(document?.rowID == rows.first?["id"]?.int64, "\(context): \(key)")
      if let document, let row = rows.first { try expect(document, row, context) }
    }
  }

  private func expect(_ document: Document, _ row: SQLRow, _ context: String) throws {
    #expect(document.revision == row["revision"]?.int64, "\(context)")
    #expect(document.type == row["type"]?.string, "\(context)")
    #expect(try document.object() == DocumentObject(json: row["body"]?.string ?? ""), "\(context)")
  }

  mutating func check(_ context: String) throws {
    try compare(cached, context)
    let incarnation =
      try cached.sql("SELECT generation FROM nano_collections WHERE name = 'c'").first?.values[0]
      .int64
    let revisions = try Dictionary(
      uniqueKeysWithValues: cached.sql("SELECT id, revision FROM c").map {
        ($0["id"]?.int64, $0["revision"]?.int64)
      })
    for (document, heldIncarnation) in held {
      let isUnchanged =
        heldIncarnation == incarnation.map { $0 >> 20 } && document.revision != nil
        && revisions[document.rowID] == document.revision && size >= 0
      #expect(cached.isCurrent(document) == isUnchanged, "\(context): \(document)")
    }
    guard let incarnation else { return }
    for document in try cached["c"].find(Field("n") == number()).fetch() {
      let same = held.first { held, heldIncarnation in
        held.rowID == document.rowID && held.revision == document.revision
          && document.revision != nil && heldIncarnation == incarnation >> 20
      }
      if let same, size >= 0 {
        #expect(same.document.hasSameStorage(as: document), "\(context)")
      }
      if held.count < 40 { held.append((document, incarnation >> 20)) }
    }
  }
}
