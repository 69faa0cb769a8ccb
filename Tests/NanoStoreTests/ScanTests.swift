// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

/// Scans pass documents whose storage the next one may use.
@Suite("Scans", .sqlite, .timeLimit(.minutes(15)))
struct ScanTests {
  private struct Stop: Error {}

  private func numbers(_ count: Int, _ location: SQLiteConfiguration.Location) throws
    -> DocumentCollection
  {
    let store = try Store(location)
    try store["numbers"].insert(
      (0..<count).map {
        ["n": .int(Int64($0)), "text": .string(String(repeating: "x", count: $0 * 7 % 90))]
      })
    return store["numbers"]
  }

  @Test("Documents that the closure keeps stay as they were", arguments: 0..<8)
  func kept(seed: Int) throws {
    var random = SplitMix(seed: UInt64(seed))
    let numbers = try numbers(400, .memory)
    var kept: [(document: Document, n: Int64)] = []
    var edited: [Document] = []
    var n: Int64 = 0
    try numbers.find().each { document in
      #expect(document["n"] == .int(n))
      if random.oneIn(3) { kept.append((document, n)) }
      if random.oneIn(5) {
        var changed = document
        changed["edited"] = .int(n)
        edited.append(changed)
      }
      n += 1
    }
    #expect(n == 400)
    for (document, n) in kept {
      #expect(document["n"] == .int(n))
      #expect(document["text"]?.string?.utf8.count == Int(n) * 7 % 90)
      #expect(document.rowID == n + 1)
    }
    for document in edited { #expect(document["edited"] == document["n"]) }
  }

  @Test("The closure may read, also in other scans")
  func nested() throws {
    let numbers = try numbers(30, .memory)
    var sum: Int64 = 0
    try numbers.find().each { outer in
      let key = try #require(outer.key)
      #expect(try numbers.get(key)?["n"] == outer["n"])
      try numbers.find().each { sum += $0["n"]?.int64 ?? 0 }
      #expect(try numbers.find(Field("n") < 10).fetch().count == 10)
      #expect(outer.key == key)
    }
    #expect(sum == 30 * (0..<30).reduce(0, +))
  }

  @Test("An error of the closure ends the scan, and the transaction around it continues")
  func errors() throws {
    let scratch = try Scratch()
    let numbers = try numbers(50, .file(scratch.file("a.db")))
    let store = numbers.store
    var visited = 0
    #expect(throws: Stop.self) {
      try numbers.find().each { _ in
        visited += 1
        if visited == 7 { throw Stop() }
      }
    }
    #expect(visited == 7)
    try store.read {
      #expect(throws: Stop.self) { try numbers.find().each { _ in throw Stop() } }
      let count = try numbers.count()
      #expect(count == 50)
    }
    try store.write {
      try numbers.insert(["n": 50])
      #expect(throws: Stop.self) { try numbers.find().each { _ in throw Stop() } }
      try numbers.insert(["n": 51])
    }
    #expect(try numbers.count() == 52)
    #expect(try numbers.find().first()?["n"] == 0)
  }

  @Test("The order is that of row IDs, even if an index of another program contains every column")
  func order() throws {
    let scratch = try Scratch()
    let numbers = try numbers(50, .file(scratch.file("a.db")))
    try numbers.store.execute(
      "CREATE INDEX everything ON numbers(body DESC, key, added, revision)")
    var found: [Int64] = []
    try numbers.find().each { found.append($0.rowID ?? 0) }
    #expect(found == Array(1...50))
    #expect(try numbers.find().fetch().map(\.rowID) == found)
    #expect(try numbers.find().keys().count == 50)
  }

  @Test("A short row of another program between long documents changes none of them")
  func foreignRows() throws {
    let scratch = try Scratch()
    let numbers = try numbers(0, .file(scratch.file("a.db")))
    let texts = [100_000, 10, 80_000, 20, 90_000].map { String(repeating: "x", count: $0) }
    try numbers.insert(texts.map { ["text": .string($0)] })
    for rowID in [2, 4] {
      try numbers.store.execute(#"UPDATE numbers SET body = '{"text":"y"}' WHERE id = ?"#, rowID)
    }

    var found: [String?] = []
    try numbers.find().each { found.append($0["text"]?.string) }

    #expect(found == [texts[0], "y", texts[2], "y", texts[4]])
  }

  @Test("Keys of every form that other programs write are those of single reads")
  func keys() throws {
    let scratch = try Scratch()
    let numbers = try numbers(0, .file(scratch.file("a.db")))
    let store = numbers.store
    try numbers.save(["n": 1], key: "text")
    try numbers.insert(["n": 2])
    for key in ["7", "2.5", "x'0102'", "NULL", "'0190a6c4-5d5e-7c3a-8f10-1234567890ab'"] {
      try store.execute("INSERT INTO numbers(key, body) VALUES (\(key), '{}')")
    }
    for adopts in [false, true] {
      if adopts { try numbers.save(["n": 3], key: "later") }
      var count = 0
      try numbers.find().each { document in
        let single = try numbers.get(rowID: document.rowID ?? 0)
        #expect(document.key == single?.key)
        count += 1
      }
      #expect(count == (adopts ? 8 : 7))
    }
  }
}
