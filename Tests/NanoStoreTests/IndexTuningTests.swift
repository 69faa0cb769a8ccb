// SPDX-License-Identifier: MIT

import Foundation
import Logging
import NanoSQLite
import NanoStore
import NanoTestSupport
import Synchronization
import Testing

@testable import NanoStoreCore

/// Tests of indexes that are created automatically. The reported query costs are constants, so no
/// result depends on timing.
@Suite("Adaptive indexes")
struct IndexTuningTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func open(_ mode: IndexTuning = .automatic, name: String = "a.db") throws -> Store {
    var configuration = Store.Configuration()
    configuration.indexTuning = mode
    return try Store(.file(scratch.file(name)), configuration: configuration)
  }

  private func filled(_ mode: IndexTuning = .automatic, count: Int64 = 200) throws -> Store {
    let store = try open(mode)
    try store["people"].insert(
      (0..<count).map {
        [
          "city": .string("c\($0 % 20)"), "age": .int($0 % 50), "name": .string("n\($0)"),
          "tags": [.string("t\($0 % 9)"), "all"],
        ]
      })
    return store
  }

  /// Charges scans of 100,000 documents until an index is due.
  private func charge(_ store: Store, _ query: DocumentQuery) throws {
    var candidates = IndexCandidates(query.query) {
      PathSummary(types: $0 == "age" ? [.int] : [.string], entersArray: $0 == "tags")
    }
    // Load the stored cost model first.
    let isDue = { try store.indexAdvice().contains(where: \.isDue) }
    let tuner = try #require(store.tuner)
    try store.finishIndexTuning()
    candidates.remove(servedBy: try query.collection.indexes())
    // In automatic mode, the tuner takes a due decision at once.
    let isTaken = {
      tuner.state.withLock { state in
        state.model.collections.values.contains { model in
          model.accounts.values.contains(where: \.isPending)
        }
      }
    }
    let known = try query.collection.indexes()
    for _ in 0..<50 {
      if try isDue() || isTaken() || query.collection.indexes() != known { break }
      tuner.scanned(Self.report(query, candidates))
    }
  }

  private static func report(_ query: DocumentQuery, _ candidates: IndexCandidates) -> ScanReport {
    ScanReport(
      collection: query.collection.name, candidates: candidates, seconds: 0.02, rows: 100_000,
      matched: 1, found: 1)
  }

  private func names(_ store: Store) throws -> [String] {
    try store["people"].indexes().map(\.name)
  }

  @Test("An index for costly queries is created, used, reported, and persistent")
  func making() throws {
    let store = try filled()
    let people = store["people"]
    let query = people.find(Field("city") == "c3")
    let before = try query.keys()
    #expect(store.indexTuning == .automatic)
    #expect(try query.explain().indexes.isEmpty)

    try charge(store, query)
    try store.finishIndexTuning()

    let index = try #require(try people.indexes().first)
    #expect(index.name == "adaptive_city" && index.origin == .adaptive)
    #expect(index.reason?.contains("queries over 100000 documents spent") == true)
    #expect(try query.explain().indexes == ["adaptive_city"])
    #expect(try query.keys() == before)
    #expect(try store.indexUses(in: "people")["adaptive_city"] ?? 0 >= 1)
    #expect(try store.verify().isEmpty)

    try store.close()
    let again = try open(.off)
    #expect(try again["people"].indexes() == [index])
    #expect(try again["people"].find(Field("city") == "c3").keys() == before)
    #expect(try again.indexUses(in: "people")["adaptive_city"] ?? 0 >= 1)
  }

  @Test("Only a scan that a nearly finished index would serve waits for it")
  func waiting() throws {
    struct Stopped: Error {}
    let store = try filled(.manual)
    let tuner = try #require(store.tuner)
    let query = store["people"].find(Field("city") == "c3")
    let candidates = IndexCandidates(query.query) { _ in
      PathSummary(types: .string, entersArray: false)
    }
    tuner.scanned(Self.report(query, candidates))
    try store.finishIndexTuning()
    func plan(_ seconds: Double) -> BuildPlan {
      BuildPlan(
        collection: "people", index: candidates.condition[0].definition(),
        candidates: candidates.condition, seconds: seconds)
    }
    /// Returns how often the query polled for the index.
    func pollCount(_ requested: IndexCandidates, _ collection: String = "people") throws -> Int {
      var count = 0
      try tuner.wait(in: collection, for: requested) {
        count += 1
        if count == 3 { tuner.withdraw(plan(0)) }
      }
      return count
    }

    #expect(try pollCount(candidates) == 0)
    tuner.announce(plan(10))
    #expect(try pollCount(candidates) == 0, "The build would take longer than the scan")
    tuner.withdraw(plan(10))

    tuner.announce(plan(0.001))
    #expect(try pollCount(candidates, "others") == 0)
    let age = IndexCandidates(store["people"].find(Field("age") == 3).query) { _ in
      PathSummary(types: .int, entersArray: false)
    }
    #expect(try pollCount(age) == 0)
    #expect(throws: Stopped.self) {
      try tuner.wait(in: "people", for: candidates) { throw Stopped() }
    }
    #expect(try pollCount(candidates) == 3)
    #expect(tuner.observer.withLock { $0 }?.isBuilding.load(ordering: .relaxed) == false)
  }

  @Test("An elements index is built in steps while others write")
  func elements() throws {
    let store = try filled(count: 3_000)
    let query = store["people"].find(Field("tags") == "t3")
    let before = try query.count()
    try charge(store, query)
    for number in 0..<20 as Range<Int64> {
      try store["people"].insert(["tags": ["t3", .string("x\(number)")]])
    }
    try store.finishIndexTuning()

    #expect(try query.explain().indexes == ["adaptive_tags_elements"])
    #expect(try query.count() == before + 20)
    #expect(try store.verify().isEmpty)
  }

  @Test("A longer index replaces a shorter one, and an OR condition gets an index for every branch")
  func replacing() throws {
    let store = try filled()
    let people = store["people"]
    try charge(store, people.find(Field("city") == "c3"))
    try store.finishIndexTuning()
    try charge(store, people.find(Field("city") == "c3" && Field("age") > 10))
    try store.finishIndexTuning()
    #expect(try names(store) == ["adaptive_city_age"])

    let choice = people.find(Field("name") == "n3" || Field("tags") == "t1")
    // An elements index costs more and is due later.
    try charge(store, choice)
    try charge(store, choice)
    try store.finishIndexTuning()
    #expect(
      try names(store) == ["adaptive_city_age", "adaptive_name", "adaptive_tags_elements"])
    #expect(
      try people.find(Field("name") == "n3" || Field("tags") == "t1").explain().indexes.count == 2)
  }

  @Test("Real scans are charged without the time spent in the caller's closure")
  func realScans() throws {
    let store = try filled(.manual, count: 3_000)
    let query = store["people"].find(Field("city") == "c3")
    _ = try query.count()
    try query.each { _ in Thread.sleep(forTimeInterval: 0.001) }
    let advice = try #require(try store.indexAdvice().first)
    #expect(advice.index.columns == [.init("city")])
    #expect(advice.spent < .milliseconds(150))
    _ = try store["people"].find(Field("age") > 100).count()
    #expect(try store.indexAdvice().count == 2)
  }

  @Test("In manual mode, no index is created before the advice is applied")
  func manual() throws {
    let store = try filled(.manual)
    let query = store["people"].find(Field("city") == "c3")
    try charge(store, query)
    try store.finishIndexTuning()
    #expect(try names(store).isEmpty)
    let advice = try store.indexAdvice()
    #expect(advice.map(\.isDue) == [true] && advice[0].action == .make)
    #expect(advice[0].spent * 2 > advice[0].cost && advice[0].cost > .milliseconds(1))

    #expect(throws: StoreError.self) { try store.write { _ = try store.applyIndexAdvice() } }
    #expect(try store.applyIndexAdvice().map(\.name) == ["adaptive_city"])
    #expect(try query.explain().indexes == ["adaptive_city"])
    #expect(try store.indexAdvice().isEmpty)
  }

  @Test("Advice does not depend on buffered documents, which may be rejected")
  func bufferedDocuments() throws {
    let store = try Store(.memory)
    let people = store["people"]
    try people.createIndex("n", unique: true)
    try people.insert(["n": 1])
    store.saveInterval = 10
    try people.save(["n": 1], key: "other")

    #expect(try store.indexAdvice().isEmpty)
    #expect(try store.applyIndexAdvice().isEmpty)
    #expect(code { try store.flush() } == .uniqueViolation)
  }

  @Test("Advice persists across runs, even if tuning is off")
  func keptAdvice() throws {
    let store = try filled(.manual)
    try charge(store, store["people"].find(Field("city") == "c3"))
    try store.finishIndexTuning()
    try store.close()

    let off = try open(.off)
    #expect(try off.indexAdvice().map(\.index.name) == ["adaptive_city"])
    #expect(off.indexTuning == .off)
    try off.close()
    let reading = try Store.file(scratch.file("a.db")) { $0.isReadOnly = true }
    #expect(try reading.indexAdvice().count == 1)
    #expect(code { try reading.applyIndexAdvice() } == .readOnly)
    #expect(try reading.indexAdvice().map(\.isDue) == [true])
    try reading.close()

    // The next run creates the index at its first event.
    let automatic = try open()
    try #require(automatic.tuner).wrote("people", 1, commits: 1)
    try automatic.finishIndexTuning()
    #expect(try names(automatic) == ["adaptive_city"])
  }

  @Test("The stored cost model is added once to what is recorded")
  func loadedOnce() throws {
    let store = try filled(.manual)
    try charge(store, store["people"].find(Field("city") == "c3"))
    let tuner = try #require(store.tuner)
    tuner.saveNow()
    let advice = try store.indexAdvice()
    #expect(!advice.isEmpty)

    tuner.load()

    #expect(try store.indexAdvice() == advice)
  }

  @Test("A declared index replaces an adaptive one")
  func adopting() throws {
    let store = try filled()
    let people = store["people"]
    try charge(store, people.find(Field("city") == "c3"))
    try charge(store, people.find(Field("name") == "n3"))
    try store.finishIndexTuning()
    let tables = "SELECT name, rootpage FROM sqlite_schema WHERE name LIKE '%adaptive_city%'"
    let before = try store.sql(tables)

    try people.createIndex("city")
    #expect(try people.indexes().map(\.origin) == [.adaptive, .declared])
    #expect(try people.indexes().map(\.name) == ["adaptive_name", "city"])
    #expect(try store.sql(tables) == before)
    #expect(try people.find(Field("city") == "c3").explain().indexes == ["city"])
    // A declared index can take over the name of an adaptive one.
    try people.createIndex("age", name: "adaptive_name")
    #expect(try people.indexes().map(\.origin) == [.declared, .declared])
    #expect(try store.verify().isEmpty)

    // Declared indexes are never dropped.
    let tuner = try #require(store.tuner)
    tuner.wrote("people", 100_000_000, commits: 1)
    try store.finishIndexTuning()
    #expect(try names(store) == ["adaptive_name", "city"])
  }

  @Test("An index declared as text replaces an adaptive one")
  func adoptingFromText() throws {
    let store = try filled()
    let people = store["people"]
    try charge(store, people.find(Field("city") == "c3"))
    try store.finishIndexTuning()
    #expect(try people.indexes().map(\.origin) == [.adaptive])

    let created = try people.createIndex(keys: "[city]")

    #expect(created.origin == .declared)
    #expect(try people.indexes() == [created])
    #expect(try people.createIndex(keys: "[city]") == created)
    try #require(store.tuner).wrote("people", 100_000_000, commits: 1)
    try store.finishIndexTuning()
    #expect(try names(store) == ["city"])
    #expect(try store.verify().isEmpty)
  }

  @Test("An index that only costs is dropped")
  func dropping() throws {
    let store = try filled()
    try charge(store, store["people"].find(Field("city") == "c3"))
    try store.finishIndexTuning()
    try #require(store.tuner).wrote("people", 100_000_000, commits: 1)
    try store.finishIndexTuning()
    #expect(try names(store).isEmpty)
    #expect(try store.verify().isEmpty)
    #expect(try store.sql("SELECT name FROM sqlite_schema WHERE name LIKE '%adaptive%'").isEmpty)
  }

  @Test("An index that matches most documents before the remaining conditions apply is not created")
  func probing() throws {
    let store = try filled()
    let people = store["people"]
    try people.insert((0..<1_000).map { ["city": "c3", "name": .string("x\($0)")] })
    try charge(store, people.find(Field("city") == "c3" && Field("name").contains("x7")))
    try store.finishIndexTuning()
    #expect(try names(store).isEmpty)
    try charge(store, people.find(Field("age") == 3 && Field("name").contains("x7")))
    try store.finishIndexTuning()
    #expect(try names(store) == ["adaptive_age"])
  }

  @Test("Two stores on one file create an index once")
  func twoStores() throws {
    let one = try filled()
    let two = try open()
    for store in [one, two] { try charge(store, store["people"].find(Field("city") == "c3")) }
    try one.finishIndexTuning()
    try two.finishIndexTuning()
    #expect(try names(one) == ["adaptive_city"] && names(two) == ["adaptive_city"])
    #expect(
      try one.sql("SELECT name FROM sqlite_schema WHERE name LIKE 'nano_index_people%'").count == 1)
    // The store that created the index, or found it already created, tracks its cost and drops it for both.
    let owner = try #require(
      [one, two].first { store in
        store.tuner?.state.withLock { $0.model.collections["people"]?.built["adaptive_city"] }
          != nil
      })
    owner.tuner?.wrote("people", 100_000_000, commits: 1)
    try owner.finishIndexTuning()
    #expect(try names(one).isEmpty && names(two).isEmpty)
  }

  @Test(
    "An unfinished elements index is completed by the next run, whatever it does first",
    arguments: ["write", "advice", "applied advice", "uses", "build"])
  func resuming(first: String) throws {
    let store = try filled(.off, count: 500)
    let index = IndexDefinition(
      name: "adaptive_tags_elements", columns: [.init("tags")], kind: .elements,
      origin: .adaptive)
    try store.engine().write(nil) { writer in
      _ = try writer.beginIndex(index, in: "people")
      _ = try writer.continueIndex(index.name, in: "people", documents: 100)
    }
    try store.close()
    let again = try open()
    #expect(try names(again).isEmpty)
    let tuner = try #require(again.tuner)
    switch first {
    case "advice": _ = try again.indexAdvice()
    case "applied advice": try again.applyIndexAdvice()
    case "uses": _ = try again.indexUses(in: "people")
    case "build":
      let candidate = IndexCandidate(kind: .elements, equalities: ["tags"])
      tuner.build(
        BuildPlan(collection: "people", index: index, candidates: [candidate], seconds: 1))
    default: tuner.wrote("people", 1, commits: 1)
    }
    try again.finishIndexTuning()
    #expect(try names(again) == ["adaptive_tags_elements"])
    #expect(try again["people"].find(Field("tags") == "t3").explain().indexes.count == 1)
    #expect(try again.verify().isEmpty)
  }

  @Test("An index that is due in a transaction is created after the commit")
  func afterTransaction() throws {
    let store = try filled()
    try store.write {
      _ = try store["people"].insert(["city": "c3"])
      let tuner = try #require(store.tuner)
      tuner.load()
      let candidates = IndexCandidates(Query(Field("city") == "c3")) { _ in
        PathSummary(types: [.string], entersArray: false)
      }
      for _ in 0..<10 {
        tuner.scanned(Self.report(store["people"].find(Field("city") == "c3"), candidates))
      }
      #expect(try names(store).isEmpty)
      #expect(code { try store.finishIndexTuning() } == .invalidArgument)
    }
    try store.finishIndexTuning()
    #expect(try names(store) == ["adaptive_city"])
    #expect(try store["people"].find(Field("city") == "c3").count() == 11)
  }

  @Test("An index build yields to a waiting writer, and completes later")
  func yieldingToWriter() throws {
    let store = try filled(count: 5_000)
    let tuner = try #require(store.tuner)
    // Simulates a build with a minute left.
    let interruption = Interruption()
    let build = RunningBuild(
      interruption: interruption, end: .now + .seconds(60), givesWay: true)
    tuner.state.withLock { $0.build = build }
    tuner.writerWaits()
    while !interruption.isTriggered { Thread.sleep(forTimeInterval: 0.001) }
    tuner.state.withLock { $0.build = nil }

    // A build that is interrupted is rolled back and tried again.
    try charge(store, store["people"].find(Field("city") == "c3"))
    while tuner.state.withLock({ $0.outstanding }) > 0 {
      if let running = tuner.state.withLock({ $0.build }), running.givesWay {
        running.interruption.trigger()
      }
      Thread.sleep(forTimeInterval: 0.0005)
    }
    try store.finishIndexTuning()
    #expect(try names(store) == ["adaptive_city"])
    #expect(try store.verify().isEmpty)
  }

  @Test("Closing does not wait for a build, and leaves no partial index")
  func closing() throws {
    let store = try filled(count: 20_000)
    try charge(store, store["people"].find(Field("tags") == "t3"))
    try charge(store, store["people"].find(Field("city") == "c3"))
    try store.close()
    try store.finishIndexTuning()
    #expect(code { _ = try store.indexAdvice() } == .closed)
    try store.reopen()
    #expect(try store.verify().isEmpty)
    #expect(try store["people"].find(Field("city") == "c3").count() == 1_000)
  }

  @Test("A dropped collection receives no index, and its successor starts without advice")
  func droppedCollection() throws {
    let store = try filled(.manual)
    try charge(store, store["people"].find(Field("city") == "c3"))
    try store["people"].drop()
    #expect(try store.applyIndexAdvice().isEmpty)
    #expect(try store.collections().isEmpty)
    try store.close()
    try store.reopen()
    #expect(try store.indexAdvice().isEmpty)
  }

  @Test("Tuning is off for in-memory, temporary, and read-only stores")
  func offForOtherStores() throws {
    #expect(try anyStore().indexTuning == .off)
    #expect(try Store(.temporary).indexTuning == .off)
    try filled(.off).close()
    var engine = SQLiteConfiguration()
    engine.isReadOnly = true
    let reading = try Store(.file(scratch.file("a.db")), engine: engine)
    #expect(reading.indexTuning == .off)
    #expect(try Store(.file(scratch.file("a.db"))).indexTuning == .automatic)
  }

  @Test("Index changes are logged with their reason and without values")
  func logging() throws {
    let memory = LoggingTests.Memory()
    var configuration = Store.Configuration()
    configuration.logger = Logger(label: "test") { _ in LoggingTests.Handler(memory: memory) }
    configuration.logger.logLevel = .info
    let store = try Store(.file(scratch.file("a.db")), configuration: configuration)
    try store["people"].insert(["city": "a secret"])
    try charge(store, store["people"].find(Field("city") == "a secret"))
    try store.finishIndexTuning()
    try #require(store.tuner).wrote("people", 100_000_000, commits: 1)
    try store.finishIndexTuning()
    let lines = memory.lines.withLock { $0 }
    #expect(lines.contains { $0.hasPrefix("index created") && $0.contains("documents spent") })
    #expect(lines.contains { $0.hasPrefix("index dropped") && $0.contains("Writes paid") })
    #expect(!lines.contains { $0.contains("secret") })
  }
}
