// SPDX-License-Identifier: MIT

import Foundation
import Logging
import NanoSQLite
import NanoStore
import NanoTestSupport
import Synchronization
import Testing

@testable import NanoStoreCore

/// Indexes that are made without being declared. What queries cost is made up, so that nothing depends
/// on how long anything takes.
@Suite("Adaptive indexes")
struct IndexTuningTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func open(_ mode: IndexTuning = .automatic, name: String = "a.db") throws -> Store {
    try Store.file(scratch.file(name)) { $0.indexTuning = mode }
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

  /// As if queries had looked through 100,000 documents until somebody had to do something about it.
  private func charge(_ store: Store, _ query: DocumentQuery) throws {
    var candidates = IndexCandidates(query.query) {
      PathSummary(types: $0 == "age" ? [.int] : [.string], entersArray: $0 == "tags")
    }
    // What the file knows is read first.
    let isDue = { try store.indexAdvice().contains(where: \.isDue) }
    let tuner = try #require(store.tuner)
    try store.finishIndexTuning()
    candidates.remove(servedBy: try query.collection.indexes())
    for _ in 0..<50 where try !isDue() && tuner.state.withLock({ $0.outstanding }) == 0 {
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

  @Test("What costs is made, used, told, and still there after reopening")
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

  @Test("Only a query that scans for want of an index which is nearly there waits for it")
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
    /// How often the query looked whether it is there.
    func looks(_ asked: IndexCandidates, _ collection: String = "people") throws -> Int {
      var count = 0
      try tuner.wait(in: collection, for: asked) {
        count += 1
        if count == 3 { tuner.withdraw(plan(0)) }
      }
      return count
    }

    #expect(try looks(candidates) == 0)
    tuner.announce(plan(10))
    #expect(try looks(candidates) == 0, "It would take longer than to scan")
    tuner.withdraw(plan(10))

    tuner.announce(plan(0.001))
    #expect(try looks(candidates, "others") == 0)
    let age = IndexCandidates(store["people"].find(Field("age") == 3).query) { _ in
      PathSummary(types: .int, entersArray: false)
    }
    #expect(try looks(age) == 0)
    #expect(throws: Stopped.self) {
      try tuner.wait(in: "people", for: candidates) { throw Stopped() }
    }
    #expect(try looks(candidates) == 3)
    #expect(tuner.observer.withLock { $0 }?.isBuilding.load(ordering: .relaxed) == false)
  }

  @Test("Elements are indexed in steps, beside writers")
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

  @Test("A longer index takes the place of a shorter one, and a choice gets all of its branches")
  func replacing() throws {
    let store = try filled()
    let people = store["people"]
    try charge(store, people.find(Field("city") == "c3"))
    try store.finishIndexTuning()
    try charge(store, people.find(Field("city") == "c3" && Field("age") > 10))
    try store.finishIndexTuning()
    #expect(try names(store) == ["adaptive_city_age"])

    let choice = people.find(Field("name") == "n3" || Field("tags") == "t1")
    // Elements cost more, and come later.
    try charge(store, choice)
    try charge(store, choice)
    try store.finishIndexTuning()
    #expect(
      try names(store) == ["adaptive_city_age", "adaptive_name", "adaptive_tags_elements"])
    #expect(
      try people.find(Field("name") == "n3" || Field("tags") == "t1").explain().indexes.count == 2)
  }

  @Test("Real scans are charged, and the time of the caller is not")
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

  @Test("By hand nothing is made before it is applied")
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

  @Test("What was found out by one run is advice for the next, also where tuning is off")
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

    // The next run makes it as soon as it is told of anything.
    let automatic = try open()
    try #require(automatic.tuner).wrote("people", 1, commits: 1)
    try automatic.finishIndexTuning()
    #expect(try names(automatic) == ["adaptive_city"])
  }

  @Test("A declared index takes the place of an adaptive one")
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
    // A name is taken from an index that nobody declared.
    try people.createIndex("age", name: "adaptive_name")
    #expect(try people.indexes().map(\.origin) == [.declared, .declared])
    #expect(try store.verify().isEmpty)

    // Declared ones are never dropped.
    let tuner = try #require(store.tuner)
    tuner.wrote("people", 100_000_000, commits: 1)
    try store.finishIndexTuning()
    #expect(try names(store) == ["adaptive_name", "city"])
  }

  @Test("What only costs is dropped")
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

  @Test("An index that would find most documents before the rest is checked is not made")
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

  @Test("Two stores on one file make an index once")
  func twoStores() throws {
    let one = try filled()
    let two = try open()
    for store in [one, two] { try charge(store, store["people"].find(Field("city") == "c3")) }
    try one.finishIndexTuning()
    try two.finishIndexTuning()
    #expect(try names(one) == ["adaptive_city"] && names(two) == ["adaptive_city"])
    #expect(
      try one.sql("SELECT name FROM sqlite_schema WHERE name LIKE 'nano_index_people%'").count == 1)
    // Who made it, or found it made when it wanted to, keeps account of it and drops it for both.
    let owner = try #require(
      [one, two].first { store in
        store.tuner?.state.withLock { $0.ledger.collections["people"]?.built["adaptive_city"] }
          != nil
      })
    owner.tuner?.wrote("people", 100_000_000, commits: 1)
    try owner.finishIndexTuning()
    #expect(try names(one).isEmpty && names(two).isEmpty)
  }

  @Test("An index on elements that was left unfinished is finished by the next run")
  func resuming() throws {
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
    try #require(again.tuner).wrote("people", 1, commits: 1)
    try again.finishIndexTuning()
    #expect(try names(again) == ["adaptive_tags_elements"])
    #expect(try again["people"].find(Field("tags") == "t3").explain().indexes.count == 1)
    #expect(try again.verify().isEmpty)
  }

  @Test("Nothing is made inside of a caller's transaction, but after it")
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

  @Test("An index gives way to a writer who waits, and is made in the end")
  func givingWay() throws {
    let store = try filled(count: 5_000)
    let tuner = try #require(store.tuner)
    // As if one were being made that takes a minute more.
    let interruption = Interruption()
    let build = RunningBuild(
      interruption: interruption, end: .now + .seconds(60), givesWay: true)
    tuner.state.withLock { $0.build = build }
    tuner.writerWaits()
    while !interruption.isTriggered { Thread.sleep(forTimeInterval: 0.001) }
    tuner.state.withLock { $0.build = nil }

    // One that is stopped in its middle is undone, and tried again.
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

  @Test("Closing waits for nothing, and leaves no half of an index")
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

  @Test("A collection that is gone gets no index, and one made anew begins anew")
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

  @Test("Stores in memory, in temporary files and those that only read look at nothing")
  func offElsewhere() throws {
    #expect(try anyStore().indexTuning == .off)
    #expect(try Store(.temporary).indexTuning == .off)
    try filled(.off).close()
    let reading = try Store.file(scratch.file("a.db")) {
      $0.isReadOnly = true
      $0.indexTuning = .automatic
    }
    #expect(reading.indexTuning == .off)
    #expect(try Store(.file(scratch.file("a.db"))).indexTuning == .automatic)
  }

  @Test("What is done is logged with its reason, and no value")
  func logging() throws {
    let memory = LoggingTests.Memory()
    let store = try Store.file(scratch.file("a.db")) {
      $0.indexTuning = .automatic
      $0.logger = Logger(label: "test") { _ in LoggingTests.Handler(memory: memory) }
      $0.logger.logLevel = .info
    }
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
