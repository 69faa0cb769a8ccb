// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

/// Makes programs: the same ones for the same seed.
///
/// Every public call of a store, its collections, queries and bags is among the calls, but for these:
/// - what tells of changes as they come (`updates`, `changes`), which is compared in a test of its own, since when it
///   comes is a matter of threads; progress and cancelling, of which the trial of concurrency sees to;
/// - the moment at which documents were added, which is the clock's; orders and conditions by it are left out;
/// - SQL that writes, which makes revisions at random: foreign writes are compared in a test of their own;
/// - regular expressions made of fields, of which engines may see at different times that they do not parse;
/// - indexes of which the store finds out by itself whether they are on elements: it may take a refused document into
///   account;
/// - unique indexes on fields that hold values of several kinds, where what is equal is an engine's own affair;
/// - models and objects, which are a layer over these calls, and encrypted stores, which have another comparison.
struct ProgramGenerator {
  var random: SplitMix
  var conditions: ConditionGenerator
  var mode: StoreMode
  /// What documents of the program hold, from which constants are drawn.
  var known: [DocumentObject] = []
  /// More than the documents there ever were.
  var lastRowID = 2

  init(seed: UInt64) {
    random = SplitMix(seed: seed)
    mode = StoreMode(&random)
    conditions = ConditionGenerator(random: random.split())
    conditions.keys = Self.keys
    // SQLite replaces this one where it converts between its encodings.
    if mode.encoding == .utf16 { conditions.values.avoided = ["\u{FFFF}"] }
    conditions.preferredPaths = Self.favourites
  }

  static let keys = [
    "k1", "k2", "k3", "ключ", "é", "0190d1f0-0000-7000-8000-000000000001",
    "0190D1F0-0000-7000-8000-000000000001",
  ]
  /// Fields that documents and indexes have most often.
  static let favourites: [FieldPath] = ["a", "b", "list", "name", "a.b", "u", "tags"]

  /// A program of ten to thirty calls, with those within blocks.
  mutating func program() -> Program {
    var calls: [Call] = []
    if random.oneIn(2) { calls.append(.create("rows", .rowID)) }
    // Something to ask about, so that indexes and orders matter.
    for _ in 0..<random.number(0...2) {
      calls.append(.insertAll(name(), (0..<random.number(2...6)).map { _ in object() }))
    }
    let length = random.number(10...30)
    while calls.count < length {
      let call = call()
      calls.append(canWait(call) && random.oneIn(8) ? .later(call) : call)
    }
    return Program(mode: mode, calls: calls)
  }

  private func canWait(_ call: Call) -> Bool {
    switch call {
    case .enqueue, .reopen, .restart, .backup, .newBag, .later: false
    default: true
    }
  }

  mutating func name() -> String {
    random.pick([
      Program.collections[0], Program.collections[0], Program.collections[0],
      Program.collections[1], Program.collections[2],
    ])
  }

  /// A call that may stand anywhere but inside of a block.
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
      // Where only one of the two collects, what is thrown away would differ.
      guard mode.tellsRows else { return .flush(discarding: false) }
      return random.oneIn(3)
        ? .flush(discarding: random.oneIn(2))
        : .interval(random.pick([1, 1, 2, 3, 10]), shown: !random.oneIn(4))
    case 15: return .statistics
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

  /// A call that may stand anywhere.
  private mutating func innerCall() -> Call {
    switch random.number(0...99) {
    case 0...37: document()
    case 38...66: question()
    case 67...82: shape()
    case 83...84: .metadata(random.pick(["m", "ключ"]), random.oneIn(3) ? nil : value())
    default: bag()
    }
  }
}
