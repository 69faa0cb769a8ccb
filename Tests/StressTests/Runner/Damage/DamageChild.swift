// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Synchronization

/// Damages and uses one store after the other, in a process that may crash.
struct DamageChild {
  let samples: DamageSamples
  let seed: UInt64
  /// The folder of the damaged copies.
  let folder: URL

  var file: String { folder.appending(path: "store.db").path }
  var other: String { folder.appending(path: "other.db").path }

  /// The result of one mutation.
  struct Outcome {
    var mutation: DamageMutation
    /// Counts by name.
    var facts: [String: Int] = [:]
    /// Failed expectations.
    var failures: [String] = []

    mutating func count(_ name: String, _ count: Int = 1) { facts[name, default: 0] += count }
  }

  func run(_ number: Int) throws -> Outcome {
    var mutation = DamageMutation(seed: seed, number: number)
    try DamageSamples.copy(samples.file(mutation.sample).path, to: file)
    try mutation.apply(to: file)
    var outcome = Outcome(mutation: mutation)
    outcome.count("mutations")
    outcome.count(mutation.sort)
    let expected = try Expected.of(mutation.sample, samples, folder)
    let readable = try recover(expected, &outcome)
    try use(expected, readable, &outcome)
    return outcome
  }

  private func use(
    _ expected: Expected, _ recovered: Recovered, _ outcome: inout Outcome
  ) throws {
    let kind = outcome.mutation.sample
    let store: Store
    do {
      store = try kind.open(file)
    } catch let error as StoreError {
      outcome.count("notOpened")
      check(error, "open", &outcome)
      return
    } catch {
      outcome.failures.append("open: untyped \(error)")
      return
    }
    defer { try? store.close() }
    var isVerified = false
    switch DamageUse.perform(
      DamageUse.Operation("verify") { try $0.verify().map(\.message).joined(separator: "\n") },
      store
    )
    {
    case .text(let problems): isVerified = problems.isEmpty
    case .failure(let error): check(error, "verify", &outcome)
    case .untyped(let error), .wrong(let error): outcome.failures.append("verify: untyped \(error)")
    }
    compare(expected, store, isVerified, &outcome)
    compareIndexes(store, isVerified, &outcome)
    checkRecovered(recovered, expected, store, &outcome)
    if kind == .encrypted {
      for forgery in DamageEncryption.forgeries(store, expected) {
        outcome.failures.append("a forged document or value is returned: \(forgery)")
      }
    }
    for operation in DamageUse.others(kind) { check(operation, store, &outcome) }
    if kind == .synced { check(DamageSync.synchronizing(samples, in: folder), store, &outcome) }
    for operation in DamageUse.changes(kind, other) {
      let reply = check(operation, store, &outcome)
      // If a B-tree is out of order, SQLite itself does not find what it wrote.
      if reply == .text("lost"), isVerified {
        outcome.failures.append("\(operation.name): the saved document is missing")
      }
    }
    if kind == .encrypted, DamageEncryption.hasPlainText(file) {
      outcome.failures.append("a saved text is in the file without encryption")
    }
  }

  @discardableResult
  private func check(
    _ operation: DamageUse.Operation, _ store: Store, _ outcome: inout Outcome
  ) -> DamageUse.Reply {
    let reply = DamageUse.perform(operation, store)
    switch reply {
    case .text: break
    case .failure(let error): check(error, operation.name, &outcome)
    case .untyped(let error): outcome.failures.append("\(operation.name): untyped \(error)")
    case .wrong(let text): outcome.failures.append("\(operation.name): \(text)")
    }
    return reply
  }

  /// Expects an error about damage to name what is damaged.
  private func check(_ error: StoreError, _ call: String, _ outcome: inout Outcome) {
    outcome.count("errors")
    let names: [StoreError.Detail] = [.path, .collection, .table, .index, .rowID, .key, .field]
    if [.corruptFile, .corruptDocument, .notADatabase, .database].contains(error.code),
      // For custom SQL, the error has only SQLite's message.
      call != "sql", !names.contains(where: { error[$0] != nil })
    {
      outcome.failures.append(
        "\(call): the error does not name what is damaged: \(error.debugDescription)")
    }
  }

  /// Compares the contents with the original, and counts whether verify detects a difference.
  private func compare(
    _ expected: Expected, _ store: Store, _ isVerified: Bool, _ outcome: inout Outcome
  ) {
    var isChanged = false
    for operation in DamageUse.contents(outcome.mutation.sample) {
      let reply = check(operation, store, &outcome)
      if case .text(let text) = reply, text != expected.results[operation.name] { isChanged = true }
    }
    guard isChanged else { return outcome.count("contentsAsBefore") }
    outcome.count(isVerified ? "contentsChangedUnseen" : "contentsChangedFound")
  }

  /// Expects index results to match the documents, unless verify reports a problem.
  private func compareIndexes(_ store: Store, _ isVerified: Bool, _ outcome: inout Outcome) {
    var isWrong = false
    for comparison in DamageUse.comparisons(outcome.mutation.sample) {
      let name = comparison.name
      let reply = check(DamageUse.Operation(name, comparison.found), store, &outcome)
      guard case .text(let found) = reply,
        case .text(let defined) = DamageUse.perform(
          DamageUse.Operation(name, comparison.defined), store),
        found != defined
      else { continue }
      isWrong = true
      if isVerified {
        outcome.failures.append(
          "\(name): verify reports no problem, but the index returns \(found) instead of \(defined)"
        )
      }
    }
    if isWrong { outcome.count("wrongAnswersFoundByVerify") }
  }
}

/// The contents of the undamaged store.
struct Expected {
  let results: [String: String]
  let documents: [String: Set<String>]

  static func of(
    _ sample: DamageSamples.Kind, _ samples: DamageSamples, _ folder: URL
  ) throws -> Expected {
    if let known = known[sample.rawValue] { return known }
    let file = folder.appending(path: "sound.db").path
    try DamageSamples.copy(samples.file(sample).path, to: file)
    let store = try sample.open(file)
    defer { try? store.close() }
    let problems = try store.verify()
    try require(problems.isEmpty, "the sample \(sample) has problems: \(problems)")
    var results: [String: String] = [:]
    for operation in DamageUse.contents(sample) {
      results[operation.name] = try operation.run(store)
    }
    var documents: [String: Set<String>] = [:]
    for name in sample.collections {
      documents[name] = Set((results["scan \(name)"] ?? "").split(separator: "\n").map(String.init))
    }
    for comparison in DamageUse.comparisons(sample) {
      let (found, defined) = try (comparison.found(store), comparison.defined(store))
      try require(found == defined, "\(comparison.name): \(found) is not \(defined)")
    }
    let expected = Expected(results: results, documents: documents)
    known[sample.rawValue] = expected
    return expected
  }

  // The child executes operations on one thread.
  private static var known: [String: Expected] {
    get { cache.withLock { $0 } }
    set { cache.withLock { $0 = newValue } }
  }
  private static let cache = Mutex<[String: Expected]>([:])
}
