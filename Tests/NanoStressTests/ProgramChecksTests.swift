// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@testable import nanostore_stress

/// The checks of random programs detect what they are for.
@Suite("Checks of random programs")
struct ProgramChecksTests {
  /// Performs calls on a new store.
  private func perform<Result>(
    _ calls: [Call], then work: (ProgramExecutor) throws -> Result
  ) throws -> Result {
    let folder = try StressTestFolder("checks")
    defer { withExtendedLifetime(folder) {} }
    let executor = try ProgramExecutor(StoreMode(), in: folder.path)
    defer { executor.close() }
    for call in calls {
      let outcome = executor.perform(call)
      #expect(!outcome.isBroken(mustSucceed: true), "\(call.text): \(outcome)")
    }
    return try work(executor)
  }

  /// Returns the outcomes of the calls at the end of every program.
  private func ending(_ calls: [Call]) throws -> [Outcome] {
    try perform(calls) { executor in
      Program(mode: executor.mode, calls: []).ending.map { executor.perform($0) }
    }
  }

  @Test(
    "The calls at the end of a program show metadata, expiration rules and expirations",
    arguments: [
      (.metadata("m", 1), .metadata("m", 2)),
      (.expirationRule("things", nil), .expirationRule("things", .after(.seconds(30)))),
      (
        .expire("things", .key("k1"), seconds: 60), .expire("things", .key("k1"), seconds: 1_000)
      ),
    ] as [(Call, Call)])
  func endings(one: Call, other: Call) throws {
    let document = Call.save("things", ["a": 1], key: "k1")
    let expected = try ending([document, one])

    #expect(try expected.elementsEqual(ending([document, one])) { $0.agrees(with: $1) })
    #expect(try !expected.elementsEqual(ending([document, other])) { $0.agrees(with: $1) })
  }

  @Test("The calls at the end of a program show the members of every bag")
  func bags() throws {
    let bags = (0..<6).map { Call.newBag(name: "bag \($0)") }
    let calls: [Call] = bags + [.addMember(5, "things", "k1"), .saveBag(5)]
    let found = try perform([.save("things", ["a": 1], key: "k1")] + calls) { executor in
      var found = ""
      for call in Program(mode: executor.mode, calls: []).ending {
        let outcome = executor.perform(call)
        // The bags that were not saved are gone when the store is opened again.
        if case .everyBag = call, found.isEmpty { found = "\(outcome)" }
      }
      return found
    }

    #expect(found.contains("things k1"))
  }

  @Test("A sum in a group next to one with the largest number must be right")
  func groupedSums() throws {
    let folder = try StressTestFolder("checks")
    defer { withExtendedLifetime(folder) {} }
    let subject = try ProgramExecutor(StoreMode(), in: folder.path)
    defer { subject.close() }
    let reference = try ProgramExecutor(StoreMode(), in: folder.path, following: subject)
    defer { reference.close() }
    let numbers: [(group: Int64, number: Double)] = [
      (1, .greatestFiniteMagnitude), (1, 1), (2, 0.5), (2, 1),
    ]
    for (place, entry) in numbers.enumerated() {
      let document: DocumentObject = ["g": .int(entry.group), "n": .double(entry.number)]
      for executor in [subject, reference] {
        let outcome = executor.perform(.save("things", document, key: "k\(place)"))
        #expect(!outcome.isBroken(mustSucceed: true))
      }
    }
    let sums = Call.aggregate(
      "things", AggregateQuery(groups: ["g"], aggregates: [.sum("n"), .average("n")]))
    let expected = reference.perform(sums)
    let actual = subject.perform(sums)
    let (large, mean) = (Double.greatestFiniteMagnitude, Double.greatestFiniteMagnitude / 2)
    func rows(_ sum: Double, _ average: Double) -> Outcome {
      .values([
        [1, .double(large), .double(mean)], [2, .double(sum), .double(average)],
      ])
    }

    #expect(expected.agrees(with: actual), "\(expected), \(actual)")
    #expect(expected.agrees(with: rows(1.5, 0.75)))
    #expect(expected.agrees(with: rows(1.5.nextUp, 0.75.nextUp)))
    #expect(!expected.agrees(with: rows(77.5, 0.75)))
    #expect(!expected.agrees(with: rows(1.5, 77.5)))
  }

  @Test("A feed may start again after a change of tracking, but not for no reason")
  func restarts() throws {
    let calls: [Call] = [.track("things", .on), .save("things", ["a": 1], key: "k1")]
    try perform(calls) { executor in
      let things = executor.store["things"]
      var mirror = FeedMirror()
      try mirror.follow(things)
      try things.setChangeTracking(.off)
      try things.setChangeTracking(.on)

      var strict = mirror
      #expect(throws: StressTestFailure.self) { try strict.follow(things) }
      try mirror.follow(things, mayRestart: true)
      #expect(try mirror.agrees(with: things))
    }
  }

  @Test(
    "Only turned-off tracking, dropped collections and opened backups let a feed start again",
    arguments: [
      (.track("things", .off), true), (.drop("things"), true),
      (.backup(opening: true), true), (.write([.drop("things")], fails: false), true),
      (.write([.track("things", .off)], fails: true), false), (.restart, false),
      (.track("things", .on), false), (.compact, false),
    ] as [(Call, Bool)])
  func reasons(call: Call, mayRestart: Bool) throws {
    let tracked: [Call] = [.track("things", .on), .save("things", ["a": 1], key: "k1")]
    try perform(tracked + [call]) { executor in
      #expect(executor.restartable.contains("things") == mayRestart)
    }
  }

  @Test("A collection that an asynchronous call drops lets its feed start again")
  func asynchronousReasons() async throws {
    let folder = try StressTestFolder("checks")
    defer { withExtendedLifetime(folder) {} }
    let executor = try ProgramExecutor(StoreMode(), in: folder.path)
    defer { executor.close() }

    _ = await executor.awaiting(.drop("things"))
    #expect(executor.restartable.contains("things"))
  }

  @Test("A fetch beside a live query must not fail for a reason that no program causes")
  func failedFetch() throws {
    let store = try Store(.memory)
    try store["things"].save(["a": 1], key: "k1")
    let observation = LiveObservation(store["things"].find())
    defer { observation.end() }

    #expect(try observation.fetched()?.count == 1)
    try store.close()
    #expect(throws: StressTestFailure.self) { try observation.fetched() }
  }

  @Test("A program may make a call fail, but not for a reason of the environment")
  func refusals() throws {
    try perform([]) { executor in
      try executor.ignoringRefusals { throw StoreError(.uniqueViolation, "A refusal") }
      #expect(throws: StoreError.self) {
        try executor.ignoringRefusals { throw StoreError(.corruptFile, "A failure") }
      }
    }
  }
}
