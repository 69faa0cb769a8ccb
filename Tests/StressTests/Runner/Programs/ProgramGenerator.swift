// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

/// Generates programs. The same seed generates the same program.
///
/// The calls include every public call of a store, its collections, queries and bags, with these exceptions:
/// - Progress and cancellation, which the concurrency stress test covers.
/// - Creation dates, which depend on the clock. Orderings and conditions by creation date are left out.
/// - SQL that writes, which generates random revisions. Writes by other programs have their own comparison.
/// - Regular expressions computed from fields. Engines may detect invalid ones at different times.
/// - Indexes for which the store decides whether to index elements. The decision may depend on a rejected document.
/// - Unique indexes on fields with values of several types, for which equality depends on the engine.
/// - Models and objects, which are layers above these calls, and encrypted stores, which have their own comparison.
struct ProgramGenerator {
  var random: SplitMix
  var conditions: ConditionGenerator
  var mode: StoreMode
  /// Documents of the program, which are a source of constants.
  var known: [DocumentObject] = []
  /// Higher than any row ID in use.
  var lastRowID = 2

  init(seed: UInt64) {
    random = SplitMix(seed: seed)
    mode = StoreMode(&random)
    conditions = ConditionGenerator(random: random.split())
    conditions.keys = Self.keys
    // SQLite replaces this character when it converts between encodings.
    if mode.encoding == .utf16 { conditions.values.avoided = ["\u{FFFF}"] }
    conditions.preferredPaths = Self.favorites
  }

  static let keys = [
    "k1", "k2", "k3", "ключ", "é", "0190d1f0-0000-7000-8000-000000000001",
    "0190D1F0-0000-7000-8000-000000000001",
  ]
  /// The most frequent fields of documents and indexes.
  static let favorites: [FieldPath] = ["a", "b", "list", "name", "a.b", "u", "tags"]

  /// Returns a program of ten to thirty calls, some of which are transactions with further calls.
  mutating func program() -> Program {
    var calls: [Call] = []
    if random.oneIn(2) { calls.append(.create("rows", .rowID)) }
    if mode.tracksChanges { calls += Program.collections.map { .track($0, .on) } }
    // Initial documents, so that indexes and orderings matter.
    for _ in 0..<random.number(0...2) {
      calls.append(.insertAll(name(), (0..<random.number(2...6)).map { _ in object() }))
    }
    let length = random.number(10...30)
    while calls.count < length {
      let call = call()
      calls.append(canWait(call) && random.oneIn(8) ? .awaiting(call) : call)
    }
    return Program(mode: mode, calls: calls)
  }

  private func canWait(_ call: Call) -> Bool {
    switch call {
    case .enqueue, .reopen, .restart, .backup, .newBag, .awaiting, .feed, .observe: false
    default: true
    }
  }

  mutating func name() -> String {
    random.pick([
      Program.collections[0], Program.collections[0], Program.collections[0],
      Program.collections[1], Program.collections[2],
    ])
  }

  /// Returns a call that is not possible inside a transaction, or any other call.
  private mutating func call() -> Call {
    switch random.number(0...59) {
    case 0...3:
      let isLong = random.oneIn(3)
      return .write(block(isLong ? 5 : 2), fails: random.oneIn(3))
    case 4: return .read(block(3))
    case 5: return .enqueue(name(), block(2))
    case 6, 7: return .reopen
    case 8: return .restart
    case 9: return .backup(opening: random.oneIn(2))
    case 10: return .compact
    case 11: return .verify
    case 12: return .tune
    case 13: return .cache(name(), random.pick([-1, 0, 1, 3, 50]))
    case 14:
      // If only one of the stores collects saves, discarding them would cause a difference.
      guard mode.returnsRowIDs else { return .flush(discarding: false) }
      return random.oneIn(3)
        ? .flush(discarding: random.oneIn(2))
        : .interval(random.pick([1, 1, 2, 3, 10]), shown: !random.oneIn(4))
    case 15: return .statistics
    case 16: return .advance(seconds: random.pick([1, 10, 100]))
    case 17: return .deleteExpired
    case 18: return .feed(name())
    default: return innerCall()
    }
  }

  private mutating func block(_ count: Int) -> [Call] {
    (0..<random.number(1...count)).map { _ in
      if random.oneIn(12) { return .write(block(2), fails: random.oneIn(2)) }
      if random.oneIn(30) { return random.pick([.compact, .verify, .reopen]) }
      return innerCall()
    }
  }

  /// Returns a call that is possible anywhere.
  private mutating func innerCall() -> Call {
    switch random.number(0...99) {
    case 0...37: document()
    case 38...66: queryCall()
    case 67...82: schemaChange()
    case 83...84: .metadata(random.pick(["m", "ключ"]), random.oneIn(3) ? nil : value())
    case 85...92: bag()
    default: feature()
    }
  }
}
