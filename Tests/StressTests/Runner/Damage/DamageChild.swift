// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Synchronization

/// Damages and uses one store after the other, in a process that may die of it.
struct DamageChild {
  let samples: DamageSamples
  let seed: UInt64
  /// Where the damaged copies are.
  let folder: URL

  private var file: String { folder.appending(path: "store.db").path }
  private var other: String { folder.appending(path: "other.db").path }

  /// What became of one damage.
  struct Outcome {
    var mutation: DamageMutation
    /// Counted by name.
    var facts: [String: Int] = [:]
    /// A promise that was not kept.
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

  private func configuration(_ sample: DamageSamples.Kind) -> Store.Configuration {
    var configuration = Store.Configuration()
    configuration.busyTimeout = 0.1
    configuration.durability = .fast
    if sample == .journal { configuration.journalMode = .delete }
    return configuration
  }

  private func use(
    _ expected: Expected, _ recovered: [String: Set<String>], _ outcome: inout Outcome
  ) throws {
    let store: Store
    do {
      store = try Store(.file(file), configuration: configuration(outcome.mutation.sample))
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
    switch DamageUse.answer(
      DamageUse.EngineRequest("verify") { try $0.verify().map(\.message).joined(separator: "\n") },
      store
    )
    {
    case .text(let problems): isVerified = problems.isEmpty
    case .failure(let error): check(error, "verify", &outcome)
    case .untyped(let error): outcome.failures.append("verify: untyped \(error)")
    }
    compare(expected, store, isVerified, &outcome)
    disagree(store, isVerified, &outcome)
    saved(recovered, expected, store, &outcome)
    for question in DamageUse.others { look(question, store, &outcome) }
    for question in DamageUse.changes(other) {
      let answer = look(question, store, &outcome)
      // In a tree that is out of order SQLite itself does not find what it wrote.
      if answer == .text("lost"), isVerified {
        outcome.failures.append("\(question.name): what was saved is not there")
      }
    }
  }

  @discardableResult
  private func look(
    _ question: DamageUse.EngineRequest, _ store: Store, _ outcome: inout Outcome
  ) -> DamageUse.Answer {
    let answer = DamageUse.answer(question, store)
    switch answer {
    case .text: break
    case .failure(let error): check(error, question.name, &outcome)
    case .untyped(let error): outcome.failures.append("\(question.name): untyped \(error)")
    }
    return answer
  }

  /// An error of damage says what is damaged.
  private func check(_ error: StoreError, _ call: String, _ outcome: inout Outcome) {
    outcome.count("errors")
    let names: [StoreError.Detail] = [.path, .collection, .table, .index, .rowID, .key, .field]
    if [.corruptFile, .corruptDocument, .notADatabase, .database].contains(error.code),
      // SQL of one's own is told what SQLite says.
      call != "sql", !names.contains(where: { error[$0] != nil })
    {
      outcome.failures.append("\(call): the error names nothing: \(error.debugDescription)")
    }
  }

  /// Whether the contents are what they were, and if not, whether anybody can know.
  private func compare(
    _ expected: Expected, _ store: Store, _ isVerified: Bool, _ outcome: inout Outcome
  ) {
    var isChanged = false
    for question in DamageUse.contents {
      let answer = look(question, store, &outcome)
      if case .text(let text) = answer, text != expected.answers[question.name] { isChanged = true }
    }
    guard isChanged else { return outcome.count("contentsAsBefore") }
    outcome.count(isVerified ? "contentsChangedUnseen" : "contentsChangedFound")
  }

  /// Whether what an index says is what the documents say.
  private func disagree(_ store: Store, _ isVerified: Bool, _ outcome: inout Outcome) {
    var questions:
      [(String, @Sendable (Store) throws -> String, @Sendable (Store) throws -> String)] = []
    for question in DamageUse.derived {
      questions.append(
        (
          question.name, { try DamageUse.found(question, $0) },
          { try DamageUse.defined(question, $0) }
        ))
    }
    questions.append(("text", { try DamageUse.searched($0) }, { try DamageUse.looked($0) }))
    var isWrong = false
    for (name, found, defined) in questions {
      guard case .text(let found) = look(DamageUse.EngineRequest(name, found), store, &outcome),
        case .text(let defined) = DamageUse.answer(DamageUse.EngineRequest(name, defined), store),
        found != defined
      else { continue }
      isWrong = true
      if isVerified {
        outcome.failures.append(
          "\(name): verify finds nothing, but \(found) was found where the documents say \(defined)"
        )
      }
    }
    if isWrong { outcome.count("wrongAnswersFoundByVerify") }
  }

  /// Recovers the damaged store, and gives what is in the new one.
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
      let saved = try Store(.file(other), configuration: configuration(.plain))
      let problems = try saved.verify()
      if !problems.isEmpty {
        outcome.failures.append("recover: the new store has problems: \(problems.prefix(3))")
      }
      var kept = 0
      var all = 0
      for name in DamageSamples.collections {
        let lines = Set(
          try DamageUse.text(DamageUse.scan(saved, name)).split(separator: "\n").map(String.init))
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
      try saved.close()
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

  /// The fields of every document that can be read of the damaged store are in the recovered one; row ids that
  /// are there twice, and keys that are none, may be lost.
  private func saved(
    _ recovered: [String: Set<String>], _ expected: Expected, _ store: Store,
    _ outcome: inout Outcome
  ) {
    for name in DamageSamples.collections {
      let scan = DamageUse.EngineRequest("scan") { try DamageUse.text(DamageUse.scan($0, name)) }
      guard case .text(let text) = DamageUse.answer(scan, store) else { continue }
      var readable = Self.fields(text.split(separator: "\n").map(String.init))
      // Bytes that are no text are repaired, one by one or several at once.
      readable = readable.filter { !$0.unicodeScalars.contains("\u{FFFD}") }
      // Halves of characters in UTF-16 become something else with SQLite than with us.
      if outcome.mutation.sample == .wide {
        readable.formIntersection(Self.fields(expected.documents[name] ?? []))
      }
      // A page may have come to stand in a tree of another collection.
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

/// What the sound store answers.
struct Expected {
  let answers: [String: String]
  let documents: [String: Set<String>]

  static func of(
    _ sample: DamageSamples.Kind, _ samples: DamageSamples, _ folder: URL
  ) throws -> Expected {
    if let known = known[sample.rawValue] { return known }
    let file = folder.appending(path: "sound.db").path
    try DamageSamples.copy(samples.file(sample).path, to: file)
    var configuration = Store.Configuration()
    if sample == .journal { configuration.journalMode = .delete }
    let store = try Store(.file(file), configuration: configuration)
    defer { try? store.close() }
    let problems = try store.verify()
    try require(problems.isEmpty, "the sample \(sample) is not sound: \(problems)")
    var answers: [String: String] = [:]
    for question in DamageUse.contents { answers[question.name] = try question.ask(store) }
    var documents: [String: Set<String>] = [:]
    for name in DamageSamples.collections {
      documents[name] = Set((answers["scan \(name)"] ?? "").split(separator: "\n").map(String.init))
    }
    for question in DamageUse.derived {
      let (found, defined) = try (
        DamageUse.found(question, store), DamageUse.defined(question, store)
      )
      try require(found == defined, "\(question.name): \(found) is not \(defined)")
    }
    let (searched, looked) = try (DamageUse.searched(store), DamageUse.looked(store))
    try require(searched == looked, "text: \(searched) is not \(looked)")
    let expected = Expected(answers: answers, documents: documents)
    known[sample.rawValue] = expected
    return expected
  }

  // The child has one thread that asks.
  private static var known: [String: Expected] {
    get { cache.withLock { $0 } }
    set { cache.withLock { $0 = newValue } }
  }
  private static let cache = Mutex<[String: Expected]>([:])
}
