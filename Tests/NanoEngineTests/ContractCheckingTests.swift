// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Synchronization
import Testing

@Suite("Checks of the engine contract")
struct ContractCheckingTests {
  private typealias Rule = ContractViolation.Rule
  private struct CallerFailure: Error {}

  /// Collects violations instead of trapping.
  private final class Violations: Sendable {
    private let found = Mutex<[ContractViolation]>([])
    var all: [ContractViolation] { found.withLock(\.self) }
    func add(_ violation: ContractViolation) { found.withLock { $0.append(violation) } }
  }

  private static func check(
    _ engine: any Engine, _ work: (any Engine) throws -> Void
  ) -> [ContractViolation] {
    let violations = Violations()
    let checked = ContractCheckingEngine(engine) { violations.add($0) }
    // The violation is what counts; the call may fail as well.
    try? work(checked)
    return violations.all
  }

  /// For each rule, a call that breaks it.
  private static let breaches: [Rule: @Sendable (any Engine) throws -> Void] = [
    .usableAfterClose: {
      try $0.close()
      _ = try $0.verify()
    },
    .blockNotRunOnce: { try $0.read(.call, nil) { _ in } },
    .undeclaredError: { try $0.read(.call, nil) { _ = try $0.count(Query(), in: "c") } },
    .foreignError: { try $0.read(.call, nil) { _ = try $0.count(Query(), in: "c") } },
    .changedError: { engine in
      try engine.read(.call, nil) {
        _ = try $0.get(.rowID(1), in: "c") { _ in throw CallerFailure() }
      }
    },
    .swallowedError: { engine in
      _ = try engine.get(.rowID(1), in: "c", nil) { _ in throw CallerFailure() }
    },
    .calledAfterEnd: { engine in
      try engine.read(.call, nil) { try $0.find(Query(), in: "c") { _ in false } }
    },
    .beyondLimit: { engine in
      try engine.read(.call, nil) { try $0.find(Query(limit: 1), in: "c") { _ in true } }
    },
    .wrongDocument: { _ = try $0.get(.rowID(99), in: "c", nil) { _ in } },
    .repeatedDocument: { try $0.get(keys: [.text("a")], in: "c", nil) { _ in } },
    .wrongResult: { _ = try $0.get(.rowID(1), in: "c", nil) { _ in } },
    .rowIDNotPositive: { engine in
      try insert(GeneratedDocument([:]), engine)
    },
    .rowIDNotNew: { engine in
      try engine.write(nil) { writer in
        for _ in 0..<2 {
          _ = try GeneratedDocument([:]).new { try writer.insert($0, into: "c") }
        }
      }
    },
    .rowIDNotRequested: { engine in
      try engine.write(nil) { writer in
        _ = try GeneratedDocument([:]).new {
          var document = $0
          document.rowID = 7
          return try writer.insert(document, into: "c")
        }
      }
    },
    .wrongRowIDCount: { engine in
      try engine.write(nil) { writer in
        try GeneratedDocument([:]).new { document in
          var rowIDs: [Int64] = []
          try writer.insert([document], into: "c", &rowIDs)
        }
      }
    },
    .tooManyWriters: { engine in
      try engine.write(nil) { _ in
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          try? engine.write(nil) { _ in }
          done.signal()
        }
        done.wait()
      }
    },
    .negativeCount: { try $0.read(.call, nil) { _ = try $0.count(Query(), in: "c") } },
    .notSorted: { try $0.read(.call, nil) { _ = try $0.collections() } },
    .stateInTransaction: { try $0.write(nil) { _ = try $0.committedState() } },
    .acceptedInvalidName: {
      try $0.write(nil) { try $0.createCollection(CollectionDescription(name: "nano_c")) }
    },
    .missingCapability: { _ = try $0.observeCommits { _ in } },
    .progressOutOfRange: { try $0.write(nil) { try $0.setIndexing(.declared, in: "c") { _ in } } },
  ]

  private static func insert(_ document: GeneratedDocument, _ engine: any Engine) throws {
    try engine.write(nil) { writer in
      _ = try document.new { try writer.insert($0, into: "c") }
    }
  }

  @Test("An engine that breaks a rule is caught", arguments: ContractViolation.Rule.allCases)
  func engines(rule: ContractViolation.Rule) throws {
    let callerRules: [Rule] = [.usedOutsideBlock, .usedOnOtherThread, .nestedWrite]
    guard !callerRules.contains(rule) else { return }
    let breach = try #require(Self.breaches[rule], "no test for \(rule)")

    let violations = Self.check(BrokenEngine(rule), breach)

    #expect(violations.map(\.rule).contains(rule), "\(violations)")
    #expect(violations.allSatisfy { $0.engine == "BrokenEngine" && !$0.call.isEmpty })
  }

  @Test("A reader that is used outside its block is caught")
  func outsideBlock() {
    let violations = Self.check(ReferenceEngine()) { engine in
      let reader = try engine.read(.call, nil) { $0 }
      _ = try reader.count(Query(), in: "c")
    }
    #expect(violations.map(\.rule) == [.usedOutsideBlock])
    #expect(violations.first?.call == "count(_:in:)")
  }

  @Test("A reader that is used on another thread is caught")
  func otherThread() {
    // @unchecked: the block waits for the thread.
    struct Escaped: @unchecked Sendable { let reader: any EngineReader }
    let violations = Self.check(ReferenceEngine()) { engine in
      try engine.read(.call, nil) {
        let escaped = Escaped(reader: $0)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          _ = try? escaped.reader.collections()
          done.signal()
        }
        done.wait()
      }
    }
    #expect(violations.map(\.rule) == [.usedOnOtherThread])
  }

  @Test("A transaction inside a transaction of the same thread is caught")
  func nestedWrite() throws {
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    let violations = Self.check(engine) { checked in
      try checked.write(nil) { _ in try checked.write(nil) { _ in } }
    }
    #expect(violations.map(\.rule) == [.nestedWrite])
  }

  @Test("Errors of the caller's closures pass through, whatever their type and code")
  func callerErrors() throws {
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    let errors: [any Error] = [
      CallerFailure(), CancellationError(), StoreError(.deleteDenied, "No"),
    ]
    for error in errors {
      let violations = Self.check(engine) { checked in
        try Self.insert(GeneratedDocument([:]), checked)
        do {
          try checked.write(nil) { writer in
            try writer.savepoint { try writer.find(Query(), in: "c") { _ in throw error } }
          }
          Issue.record("no error")
        } catch let thrown {
          #expect(type(of: thrown) == type(of: error))
        }
      }
      #expect(violations == [])
    }
  }

  @Test("The error of a canceled call may replace that of a statement which failed because of it")
  func canceledStatement() throws {
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    let violations = Self.check(engine) { checked in
      let interruption = Interruption()
      let error = #expect(throws: StoreError.self) {
        try checked.write(interruption) { _ in
          interruption.trigger()
          throw StoreError(.database, "The database rejected a statement")
        }
      }
      #expect(error?.code == .interrupted)
    }
    #expect(violations == [])
  }

  @Test("A violation's description names the engine and the call, and contains no user data")
  func description() {
    let violations = Self.check(BrokenEngine(.undeclaredError)) { engine in
      try engine.read(.call, nil) { _ = try $0.count(Query(), in: "a secret") }
    }
    #expect(
      violations.map(\.description) == [
        "BrokenEngine.count(_:in:): The engine threw an error code that the contract does not declare (deleteDenied)"
      ])
  }

  @Test("The wrapper keeps SQL and interruptions, and gives access to the wrapped engine")
  func transparency() throws {
    let base = try SQLiteEngine(.memory, SQLiteConfiguration())
    let engine = ContractCheckingEngine(base)
    #expect(engine.unchecked === base)
    #expect(engine.capabilities == base.capabilities)
    #expect(try engine.read(.call, nil) { $0 is any SQLReader })
    #expect(try engine.write(nil) { $0 is any SQLReader })
    #expect(try ContractCheckingEngine(ReferenceEngine()).write(nil) { !($0 is any SQLReader) })

    let interruption = Interruption()
    let error = #expect(throws: StoreError.self) {
      try engine.read(.call, interruption) {
        interruption.trigger()
        _ = try $0.count(Query(), in: "c")
      }
    }
    #expect(error?.code == .interrupted)
    #expect(throws: Never.self) { try engine.read(.call, nil) { _ = try $0.collections() } }
  }

  #if DEBUG
    @Test(
      "In debug builds, a violation is printed once, and a SQLite connection used by another thread traps"
    )
    func debugBuilds() async {
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let engine = ReferenceEngine().checkedInDebugBuilds
        let reader = try engine.read(.call, nil) { $0 }
        _ = try reader.count(Query(), in: "c")
        _ = try reader.count(Query(), in: "c")
      }
      let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(printed.components(separatedBy: "Engine contract: ReferenceEngine.count").count == 2)
      await #expect(processExitsWith: .failure) {
        let engine = ContractCheckingEngine(ReferenceEngine())
        let reader = try engine.read(.call, nil) { $0 }
        _ = try reader.count(Query(), in: "c")
      }
      await #expect(processExitsWith: .failure) {
        let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
        let reader = try engine.read(.call, nil) { $0 }
        _ = try reader.count(Query(), in: "c")
      }
      // A damaged file can break this rule.
      await #expect(processExitsWith: .success) {
        let engine = BrokenEngine(.notSorted).checkedInDebugBuilds
        try engine.read(.call, nil) { _ = try $0.collections() }
      }
      await #expect(processExitsWith: .success) {
        let engine = try SQLiteEngine(.memory, SQLiteConfiguration()).checkedInDebugBuilds
        try engine.read(.call, nil) { _ = try $0.count(Query(), in: "c") }
      }
    }
  #endif
}
