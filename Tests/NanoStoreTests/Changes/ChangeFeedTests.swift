// SPDX-License-Identifier: MIT

import Dispatch
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Change feed", .timeLimit(.minutes(10)))
struct ChangeFeedTests {
  @Test(
    "Each commit is an element with the documents it changed", arguments: [true, false])
  func commits(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try Store(inFile ? .file(scratch.file("a.db")) : .memory)
    let people = store["people"]
    var feed = store.changes.makeAsyncIterator()

    let ada = try #require(try await people.save(["n": 1], key: "ada").rowID)
    #expect(try await feed.next() == Commit([Change("people", [ada: .inserted])]))
    try await people.update("ada", set: ["n": 2])
    #expect(try await feed.next() == Commit([Change("people", [ada: .updated])]))
    try await store.write {
      try people.delete("ada")
      try store["films"].insert(["title": "Alien"])
    }
    let commit = try #require(try await feed.next())
    #expect(commit.change(in: "People")?.rows == [ada: .deleted])
    #expect(commit.change(in: "films")?.rowIDs(.inserted) == [1])
    #expect(commit.change(in: "other") == nil)
  }

  @Test("A handler is called for a commit that follows its registration immediately")
  func observedAtOnce() async throws {
    let store = try anyStore()
    let (commits, continuation) = AsyncStream.makeStream(of: Commit.self)
    let token = store.changes.observe(on: DispatchQueue(label: "handler")) { result in
      if case .success(let commit) = result { continuation.yield(commit) }
    }
    try store.blocking { _ = try store["people"].insert(["n": 1]) }
    var iterator = commits.makeAsyncIterator()
    #expect(await iterator.next()?.change(in: "people") != nil)
    token.cancel()
  }

  @Test("Rolled-back changes and changes to no document are not reported")
  func unreported() async throws {
    let store = try anyStore()
    let people = store["people"]
    try await people.insert(["n": 1])
    var feed = people.changes().makeAsyncIterator()

    try? await store.write {
      try people.insert([:])
      throw CancellationError()
    }
    _ = try await people.fetch()
    try await people.createIndex("n")
    try await store.setMetadata(1, "m")
    try await store["others"].insert([:])
    try await store.write {
      try people.insert(["n": 2])
      try? store.write {
        try people.deleteAll()
        throw CancellationError()
      }
    }
    let inserted = try #require(await people.find(Field("n") == 2).first()?.rowID)
    #expect(try await feed.next() == Change("people", [inserted: .inserted]))
  }

  @Test(
    "SQL writes, large changes, and dropped collections are reported without row IDs", .sqlite)
  func everything() async throws {
    let store = try anyStore()
    let people = store["people"]
    var feed = people.changes().makeAsyncIterator()
    try run("CREATE TABLE x (a)", store)
    #expect(try await feed.next() == Change("people", nil))
    try await people.insert((0...Commit.maximumRows).map { _ in [:] })
    #expect(try await feed.next() == Change("people", nil))
    try await people.deleteAll()
    #expect(try await feed.next() == Change("people", nil))
    _ = try await people.drop()
    #expect(try await feed.next() == Change("people", nil))
    // A read-only statement is not reported.
    try run("SELECT 1", store)
    try await people.insert([:])
    #expect(try await feed.next()?.rowIDs(.inserted) == [1])
  }

  @Test("A rejected document leaves the feed correct", .sqlite)
  func rejected() async throws {
    let store = try anyStore()
    let people = store["people"]
    try await people.createIndex("tags", unique: true, elements: true)
    try await people.insert(["tags": ["a"]])
    var feed = people.changes().makeAsyncIterator()
    try await store.write {
      try people.insert(["tags": ["b"]])
      #expect(code { try people.insert(["tags": ["c", "a"]]) } == .uniqueViolation)
    }
    let change = try #require(try await feed.next())
    let ids = Set(try await people.find().rowIDs())
    #expect(change.rows == nil || Set(change.rowIDs(.inserted)).isSubset(of: ids))
  }

  @Test("Commits by other stores are reported without details, the store's own with row IDs")
  func others() async throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    let other = try Store(.file(scratch.file("a.db")))
    try await store["people"].insert(["n": 1])
    var feed = store.changes.makeAsyncIterator()

    try await store["people"].insert(["n": 2])
    #expect(try await feed.next()?.isEverything == false)
    try await other["people"].insert(["n": 3])
    #expect(try await feed.next()?.isEverything == true)
    try await store["people"].insert(["n": 4])
    #expect(try await feed.next()?.change(in: "people")?.rowIDs(.inserted) == [4])
  }

  @Test("A loop that falls far behind receives merged commits, and none is missing")
  func behind() async throws {
    let store = try anyStore()
    let people = store["people"]
    var feed = people.changes().makeAsyncIterator()
    for number in 0..<500 as Range<Int64> { try await people.insert(["n": .int(number)]) }
    try await people.find(Field("n") == 499).delete()

    var rows: [Int64: Change.Kind] = [:]
    var count = 0
    while rows[500] != .deleted {
      let change = try #require(try await feed.next())
      rows.merge(try #require(change.rows)) { $1 }
      count += 1
    }
    #expect(rows.count == 500)
    #expect(count == 64)
  }

  @Test("A merged commit is correct for an observer that read the state between its commits")
  func merging() {
    var commit = Commit([Change("a", [1: .inserted, 2: .inserted, 3: .deleted, 4: .updated])])
    commit.merge(
      Commit([
        Change("A", [1: .deleted, 2: .updated, 3: .inserted, 5: .inserted]), Change("b", nil),
      ]))
    #expect(
      commit.changes == [
        Change("a", [1: .deleted, 2: .updated, 3: .updated, 4: .updated, 5: .inserted]),
        Change("b", nil),
      ])
    commit.merge(Commit([Change("b", [1: .inserted])]))
    #expect(commit.change(in: "b") == Change("b", nil))
    commit.merge(.everything)
    #expect(commit == .everything)
  }

  @Test(
    "A merged commit covers what each of its commits may have changed",
    arguments: 0..<200 as Range<UInt64>)
  func randomMerging(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let names = ["a", "b", "c"]
    /// The rows that may have changed, by collection; nil for all.
    typealias Model = [String: Set<Int64>?]
    func model(_ commit: Commit) -> Model {
      Dictionary(
        uniqueKeysWithValues: names.map { name in
          (name, commit.change(in: name).map { $0.rows.map { Set($0.keys) } } ?? .some([]))
        })
    }
    var merged = Commit([])
    var expected: Model = [:]
    for name in names { expected[name] = .some([]) }
    for _ in 0..<random.number(1...5) {
      let listed = names.filter { _ in random.oneIn(2) }
      var commit = Commit(
        listed.map { name in
          let rows = (0..<random.number(0...3)).map { _ in Int64(random.number(0...5)) }
          let kinds = Dictionary(rows.map { ($0, Change.Kind.updated) }) { old, _ in old }
          return Change(name, random.oneIn(4) ? nil : kinds)
        })
      if random.oneIn(3) { commit.merge(.everything) }
      if random.oneIn(3) { commit = .everythingExcept(commit.changes) }
      for (name, rows) in model(commit) {
        guard let known = expected[name] ?? nil, let rows else {
          expected[name] = .some(nil)
          continue
        }
        expected[name] = known.union(rows)
      }
      merged.merge(commit)
    }
    #expect(model(merged) == expected, "seed \(seed)")
  }

  @Test("Custom triggers can change unreported rows, so every document counts as changed", .sqlite)
  func triggers() async throws {
    let store = try anyStore()
    let people = store["people"]
    let log = try await store.createCollection("log", identity: .rowID)
    try await people.insert([:])
    var feed = log.changes().makeAsyncIterator()
    try run(
      """
      CREATE TRIGGER mine AFTER INSERT ON people BEGIN
        INSERT OR REPLACE INTO log(id, body) VALUES (1, NEW.body);
      END
      """, store)
    #expect(try await feed.next() == Change("log", nil))
    try await people.insert(["n": 1])
    #expect(try await feed.next() == Change("log", nil))
    try run("DROP TRIGGER mine", store)
    #expect(try await feed.next() == Change("log", nil))
    try await people.insert(["n": 2])
    try await log.insert(["n": 3])
    #expect(try await feed.next()?.rowIDs(.inserted) == [2])
  }

  /// Runs a statement in a separate transaction.
  private func run(_ statement: String, _ store: Store) throws {
    try store.write { _ = try store.sql(statement) }
  }
}
