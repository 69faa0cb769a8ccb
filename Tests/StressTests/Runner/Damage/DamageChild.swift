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

  private var file: String { folder.appending(path: "store.db").path }
  private var other: String { folder.appending(path: "other.db").path }

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

  private func configuration(_ sample: DamageSamples.Kind) -> SQLiteConfiguration {
    var configuration = SQLiteConfiguration()
    configuration.busyTimeout = .seconds(0.1)
    configuration.durability = .fast
    if sample == .journal { configuration.journalMode = .delete }
    return configuration
  }

  private func use(
    _ expected: Expected, _ recovered: [String: Set<String>], _ outcome: inout Outcome
  ) throws {
    let store: Store
    do {
      store = try Store(.file(file), engine: configuration(outcome.mutation.sample))
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
    case .untyped(let error): outcome.failures.append("verify: untyped \(error)")
    }
    compare(expected, store, isVerified, &outcome)
    compareIndexes(store, isVerified, &outcome)
    checkRecovered(recovered, expected, store, &outcome)
    for operation in DamageUse.others { check(operation, store, &outcome) }
    for operation in DamageUse.changes(other) {
      let reply = check(operation, store, &outcome)
      // If a B-tree is out of order, SQLite itself does not find what it wrote.
      if reply == .text("lost"), isVerified {
        outcome.failures.append("\(operation.name): the saved document is missing")
      }
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
    for operation in DamageUse.contents {
      let reply = check(operation, store, &outcome)
      if case .text(let text) = reply, text != expected.results[operation.name] { isChanged = true }
    }
    guard isChanged else { return outcome.count("contentsAsBefore") }
    outcome.count(isVerified ? "contentsChangedUnseen" : "contentsChangedFound")
  }

  /// Expects index results to match the documents, unless verify reports a problem.
  private func compareIndexes(_ store: Store, _ isVerified: Bool, _ outcome: inout Outcome) {
    var operations:
      [(String, @Sendable (Store) throws -> String, @Sendable (Store) throws -> String)] = []
    for operation in DamageUse.derived {
      operations.append(
        (
          operation.name, { try DamageUse.indexResult(operation, $0) },
          { try DamageUse.evaluatedResult(operation, $0) }
        ))
    }
    operations.append(
      ("text", { try DamageUse.indexedWords($0) }, { try DamageUse.scannedWords($0) }))
    var isWrong = false
    for (name, found, defined) in operations {
      guard case .text(let found) = check(DamageUse.Operation(name, found), store, &outcome),
        case .text(let defined) = DamageUse.perform(DamageUse.Operation(name, defined), store),
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

  /// Recovers the damaged store, and returns the documents of the new one.
  private func recover(
    _ expected: Expected, _ outcome: inout Outcome
  ) throws -> [String: Set<String>] {
    func content() -> [Data?] {
      DamageSamples.suffixes.map { try? Data(contentsOf: URL(filePath: file + $0)) }
    }
    let before = content()
    var documents: [String: Set<String>] = [:]
    do {
      let report = try Store.recover(from: file, to: other, replacing: true)
      let recoveredStore = try Store(.file(other), engine: configuration(.plain))
      let problems = try recoveredStore.verify()
      if !problems.isEmpty {
        outcome.failures.append("recover: the new store has problems: \(problems.prefix(3))")
      }
      var kept = 0
      var all = 0
      for name in DamageSamples.collections {
        let lines = Set(
          try DamageUse.text(DamageUse.scan(recoveredStore, name)).split(separator: "\n").map(
            String.init))
        documents[name] = lines
        let wanted = expected.documents[name] ?? []
        kept += wanted.intersection(lines).count
        all += wanted.count
      }
      outcome.count("recovered")
      outcome.count("documents", all)
      outcome.count("documentsRecovered", kept)
      if kept < all, report.isComplete, outcome.mutation.sort == "bytes" {
        outcome.count("lossNotReported")
      }
      try recoveredStore.close()
    } catch let error as StoreError {
      outcome.count("notRecovered")
      if ![.notADatabase, .cannotOpen].contains(error.code) {
        outcome.failures.append("recover: \(error.debugDescription)")
      }
    } catch {
      outcome.failures.append("recover: untyped \(error)")
    }
    if content() != before { outcome.failures.append("recover: the damaged file was changed") }
    return documents
  }

  /// Expects the fields of every readable document of the damaged store in the recovered one. Duplicate row IDs and
  /// invalid keys may be lost.
  private func checkRecovered(
    _ recovered: [String: Set<String>], _ expected: Expected, _ store: Store,
    _ outcome: inout Outcome
  ) {
    for name in DamageSamples.collections {
      let scan = DamageUse.Operation("scan") { try DamageUse.text(DamageUse.scan($0, name)) }
      guard case .text(let text) = DamageUse.perform(scan, store) else { continue }
      var readable = Self.fields(text.split(separator: "\n").map(String.init))
      // Invalid UTF-8 is replaced, byte by byte or in sequences.
      readable = readable.filter { !$0.unicodeScalars.contains("\u{FFFD}") }
      // SQLite and the recovery decode unpaired UTF-16 surrogates differently.
      if outcome.mutation.sample == .wide {
        readable.formIntersection(Self.fields(expected.documents[name] ?? []))
      }
      // A page may have moved to the B-tree of another collection.
      let missing = readable.subtracting(Self.fields(recovered.values.flatMap(\.self)))
      if !missing.isEmpty {
        outcome.count("readableNotRecovered", missing.count)
        outcome.failures.append("recover: \(name) lacks \(missing.sorted().first ?? "")")
      }
    }
  }

  private static func fields(_ lines: some Sequence<String>) -> Set<String> {
    Set(
      lines.compactMap { line in
        line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false).last
          .map(String.init)
      })
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
    var configuration = SQLiteConfiguration()
    if sample == .journal { configuration.journalMode = .delete }
    let store = try Store(.file(file), engine: configuration)
    defer { try? store.close() }
    let problems = try store.verify()
    try require(problems.isEmpty, "the sample \(sample) has problems: \(problems)")
    var results: [String: String] = [:]
    for operation in DamageUse.contents { results[operation.name] = try operation.run(store) }
    var documents: [String: Set<String>] = [:]
    for name in DamageSamples.collections {
      documents[name] = Set((results["scan \(name)"] ?? "").split(separator: "\n").map(String.init))
    }
    for operation in DamageUse.derived {
      let (found, defined) = try (
        DamageUse.indexResult(operation, store), DamageUse.evaluatedResult(operation, store)
      )
      try require(found == defined, "\(operation.name): \(found) is not \(defined)")
    }
    let (indexed, scanned) = try (DamageUse.indexedWords(store), DamageUse.scannedWords(store))
    try require(indexed == scanned, "text: \(indexed) is not \(scanned)")
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
