// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoStorePostgres
import Testing

@Suite("Write skew and the read-only anomaly", .postgres)
struct WriteSkewTests {
  /// Two persons are on call, and each may leave if the other one stays.
  private func run(_ isolation: Isolation, isKnown: Bool) throws -> Interleaving {
    try Interleaving(2, isolation, isKnown: isKnown) { store in
      try store["items"].save(["n": 1], key: "a")
      try store["items"].save(["n": 1], key: "b")
    }
  }

  /// Calls that return the number of persons on call.
  enum Counting: CaseIterable, Sendable {
    case get, getSeveral, query, count

    func count(_ items: DocumentCollection, from keys: [String]) throws -> Int {
      switch self {
      case .get: try keys.map { try items.get($0)?["n"]?.int ?? 0 }.reduce(0, +)
      case .getSeveral: try items.get(keys: keys).map { $0["n"]?.int ?? 0 }.reduce(0, +)
      case .query: try items.find("[n] = 1").fetch().count
      case .count: try items.find("[n] = 1").count()
      }
    }
  }

  @Test(
    "The second of two serializable blocks sees the write of the first (G2)",
    arguments: Counting.allCases)
  func serializable(counting: Counting) throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try counting.count($0["items"], from: ["a", "b"]) } == 2)

      let second = try run[1].start { try counting.count($0["items"], from: ["b", "a"]) }
      #expect(second.isBlocked)
      try run[0].step { try $0["items"].save(["n": 0], key: "a") }
      #expect(try run[0].commit() == nil)
      #expect(try second.value() == 1)
      #expect(try run[1].commit() == nil)
      #expect(try run.onCall() == 1)
    }
  }

  @Test(
    "Two read-committed blocks both write, though each would have kept the other from it",
    arguments: Counting.allCases)
  func readCommitted(counting: Counting) throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      for number in [0, 1] {
        #expect(try run[number].step { try counting.count($0["items"], from: ["a", "b"]) } == 2)
      }
      for (number, key) in ["a", "b"].enumerated() {
        try run[number].step { try $0["items"].save(["n": 0], key: key) }
        #expect(try run[number].commit() == nil)
      }
      #expect(try run.onCall() == 0)
    }
  }

  @Test(
    "Of two serializable blocks that have each read what the other one writes, one is rolled back")
  func readByKey() throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      for (number, key) in ["b", "a"].enumerated() {
        #expect(try run[number].step { try $0["items"].get(key)?["n"]?.int } == 1)
      }
      for (number, key) in ["a", "b"].enumerated() {
        _ = try run[number].start { try $0["items"].save(["n": 0], key: key) }
      }
      let errors = try [run[0].commit(), run[1].commit()].compactMap(\.self)
      #expect(errors.map(\.isRetryable) == [true])
      #expect(try run.onCall() == 1)
    }
  }

  @Test(
    "Of two serializable blocks that have each found missing what the other one inserts, one is rolled back"
  )
  func missingKey() throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      for (number, key) in ["d", "c"].enumerated() {
        #expect(try run[number].step { try $0["items"].get(key)?.key } == nil)
      }
      for (number, key) in ["c", "d"].enumerated() {
        _ = try run[number].start { try $0["items"].insert(["n": 1], key: key) }
      }
      let errors = try [run[0].commit(), run[1].commit()].compactMap(\.self)
      #expect(errors.map(\.isRetryable) == [true])
      #expect(try run.onCall() == 3)
    }
  }

  @Test("Two read-committed blocks both insert what the other one has found missing")
  func missingKeyReadCommitted() throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      for (number, key) in ["d", "c"].enumerated() {
        #expect(try run[number].step { try $0["items"].get(key)?.key } == nil)
      }
      for (number, key) in ["c", "d"].enumerated() {
        try run[number].step { _ = try $0["items"].insert(["n": 1], key: key) }
        #expect(try run[number].commit() == nil)
      }
      #expect(try run.onCall() == 4)
    }
  }

  @Test("Of two serializable blocks that write a document and then run a query, one is rolled back")
  func upgrade() throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      for (number, key) in ["a", "b"].enumerated() {
        try run[number].step { try $0["items"].save(["n": 0], key: key) }
      }
      for number in [0, 1] {
        _ = try run[number].start { try $0["items"].find("[n] = 1").count() }
      }
      let errors = try [run[0].commit(), run[1].commit()].compactMap(\.self)
      #expect(errors.map(\.isRetryable) == [true])
      #expect(try run.onCall() == 1)
    }
  }

  /// The anomaly of Fekete, O'Neil and O'Neil, "A read-only transaction anomaly under snapshot isolation", 2004: a
  /// withdrawal that overdraws both accounts costs 1 more, unless a deposit precedes it. Reports the balances that a
  /// third transaction reads after the deposit, and those at the end.
  private func balances(
    _ isolation: Isolation, isKnown: Bool, readsInBlock: Bool
  ) throws -> (report: [Int?], end: [Int?]) {
    let run = try Interleaving(3, isolation, isKnown: isKnown) { store in
      try store["items"].save(["n": 0], key: "a")
      try store["items"].save(["n": 0], key: "b")
    }
    defer { run.end() }
    // The withdrawal of 10 from a.
    let before = try run[1].step { store in
      try ["a", "b"].map { try store["items"].get($0)?["n"]?.int }
    }
    #expect(before == [0, 0])
    // The deposit of 20 on b.
    let deposit = try run[0].start { store in
      let balance = try store["items"].get("b")?["n"]?.int ?? 0
      try store["items"].save(["n": .int(Int64(balance + 20))], key: "b")
    }
    #expect(deposit.isBlocked == (isolation == .serializable))
    if !deposit.isBlocked { #expect(try run[0].commit() == nil) }
    let report = try run[2].start { store in
      try ["a", "b"].map { try store["items"].get($0)?["n"]?.int }
    }
    let outside = try run.observer.read { try ["a", "b"].map { try run.number($0) } }
    try run[1].step { try $0["items"].save(["n": -11], key: "a") }
    #expect(try run[1].commit() == nil)
    // Both may wait for a row, and the server does not say who gets it first. The other one waits for the commit.
    for number in [0, 2] { run[number].requestCommit() }
    for number in [0, 2] { #expect(try run[number].error() == nil) }
    let inside = try report.value()
    return (readsInBlock ? inside : outside, try ["a", "b"].map { try run.number($0) })
  }

  @Test(
    "A report never contradicts the order of serializable blocks", arguments: [true, false],
    [true, false])
  func readOnlyAnomaly(isKnown: Bool, readsInBlock: Bool) throws {
    let (report, end) = try balances(.serializable, isKnown: isKnown, readsInBlock: readsInBlock)

    #expect(end == [-11, 20])
    // The withdrawal precedes the deposit, since it cost 1 more.
    #expect([[0, 0], [-11, 0], [-11, 20]].contains(report))
  }

  @Test(
    "A report may contradict every order of read-committed blocks", arguments: [true, false],
    [true, false])
  func readOnlyAnomalyReadCommitted(isKnown: Bool, readsInBlock: Bool) throws {
    let (report, end) = try balances(.readCommitted, isKnown: isKnown, readsInBlock: readsInBlock)

    #expect(end == [-11, 20])
    // The report has the deposit without the withdrawal.
    #expect(report == [0, 20])
  }
}

extension Interleaving {
  fileprivate func onCall() throws -> Int { try observer["items"].find("[n] = 1").count() }
}
