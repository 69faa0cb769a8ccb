// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// What a recovery saved.
struct Recovered {
  /// The documents by collection.
  var documents: [String: Set<String>] = [:]
  /// Those of bags, which a moved page can show in another collection.
  var bagDocuments: Set<String> = []
  /// The digests of the attachments that can be read.
  var attachments: Set<String> = []
  /// The number of documents that the report lists as skipped.
  var skipped = 0
  /// Why the new store cannot be opened.
  var failure: StoreError?
}

/// The recovery of a damaged store, and what it must save.
extension DamageChild {
  /// Recovers the damaged store, and returns the contents of the new one.
  func recover(_ expected: Expected, _ outcome: inout Outcome) throws -> Recovered {
    func content() -> [Data?] {
      DamageSamples.suffixes.map { try? Data(contentsOf: URL(filePath: file + $0)) }
    }
    let before = content()
    var recovered = Recovered()
    do {
      let report = try Store.recover(from: file, to: other, replacing: true)
      outcome.count("recovered")
      recovered = try contents(report, expected, &outcome)
    } catch let error as StoreError {
      outcome.count("notRecovered")
      if ![.notADatabase, .cannotOpen].contains(error.code) {
        outcome.failures.append("recover: \(error.debugDescription)")
      }
    } catch {
      outcome.failures.append("recover: untyped \(error)")
    }
    if content() != before { outcome.failures.append("recover: the damaged file was changed") }
    return recovered
  }

  private func contents(
    _ report: RecoveryReport, _ expected: Expected, _ outcome: inout Outcome
  ) throws -> Recovered {
    let kind = outcome.mutation.sample
    var recovered = Recovered()
    let store: Store
    do { store = try kind.open(other, isRecovered: true) } catch let error as StoreError
      where kind == .encrypted
    {
      // Without the entry with the wrapped keys, nothing can be decrypted.
      recovered.failure = error
      return recovered
    }
    defer { try? store.close() }
    var kept = 0
    var all = 0
    for name in kind.collections {
      let lines: Set<String>
      if kind == .encrypted {
        lines = Set(try DamageEncryption.readable(store, name))
      } else {
        lines = Set(
          try DamageUse.text(DamageUse.scan(store, name)).split(separator: "\n").map(String.init))
      }
      recovered.documents[name] = lines
      let wanted = expected.documents[name] ?? []
      kept += wanted.intersection(lines).count
      all += wanted.count
    }
    if kind != .encrypted {
      for collection in [InternalCollection.bags, .bagMembers] {
        let text = try DamageUse.text(store.internalCollection(collection).fetch())
        recovered.bagDocuments.formUnion(text.split(separator: "\n").map(String.init))
      }
    }
    recovered.skipped = report.skippedCount
    recovered.attachments = DamageAttachments.readable(store)
    outcome.count("documents", all)
    outcome.count("documentsRecovered", kept)
    if kept < all, report.isComplete, outcome.mutation.sort == "bytes" {
      outcome.count("lossNotReported")
    }
    let problems = try store.verify().filter { problem in
      !Self.hasNoStoredForm(problem)
        && !DamageAttachments.isLost(problem, report, outcome.mutation)
        && !(kind == .encrypted && DamageEncryption.isUndecryptable(problem))
    }
    if !problems.isEmpty {
      outcome.failures.append("recover: the new store has problems: \(problems.prefix(3))")
    }
    if kind == .synced {
      switch DamageUse.perform(DamageSync.synchronizing(samples, in: folder), store) {
      case .text, .failure: break
      case .untyped(let text), .wrong(let text):
        outcome.failures.append("synchronize the recovered store: \(text)")
      }
    }
    return recovered
  }

  /// Whether a problem of a recovered store is a body that is saved as it is, because it has no stored form: one of
  /// another program, or one in which a changed byte made two names equal. `verify` lists it in any store
  /// (docs/SCHEMA.md, "Foreign rows").
  private static func hasNoStoredForm(_ problem: VerificationProblem) -> Bool {
    problem.message.contains("cannot be exported unchanged")
  }

  /// Expects the fields of every readable document of the damaged store in the recovered one, and every readable
  /// attachment. Duplicate row IDs and invalid keys may be lost.
  func checkRecovered(
    _ recovered: Recovered, _ expected: Expected, _ store: Store, _ outcome: inout Outcome
  ) {
    let kind = outcome.mutation.sample
    if let failure = recovered.failure {
      return outcome.failures.append(
        "recover: the damaged store opens, the new one does not: \(failure.debugDescription)")
    }
    let lost = DamageAttachments.readable(store).subtracting(recovered.attachments)
    // The damaged store finds content by the index on keyed hashes. Without the key, nothing shows that a row has another.
    if !lost.isEmpty, kind != .encrypted {
      outcome.failures.append("recover: the attachments \(lost) are missing")
    }
    for name in kind.collections {
      let scan = DamageUse.Operation("scan") { store in
        kind == .encrypted
          ? try DamageEncryption.readable(store, name).joined(separator: "\n")
          : try DamageUse.text(DamageUse.scan(store, name))
      }
      guard case .text(let text) = DamageUse.perform(scan, store) else { continue }
      let lines = text.split(separator: "\n").map(String.init)
      var readable = Self.fields(lines)
      // Invalid UTF-8 is replaced, byte by byte or in sequences.
      readable = readable.filter { !$0.unicodeScalars.contains("\u{FFFD}") }
      // SQLite and the recovery decode unpaired UTF-16 surrogates differently.
      if kind == .wide {
        readable.formIntersection(Self.fields(expected.documents[name] ?? []))
      }
      // A page may have moved to the B-tree of another collection.
      let saved = Self.fields(
        recovered.documents.values.flatMap(\.self) + Array(recovered.bagDocuments))
      var missing = readable.subtracting(saved)
      if recovered.skipped > 0 { missing.subtract(Self.otherVersions(lines, saved)) }
      if !missing.isEmpty {
        outcome.count("readableNotRecovered", missing.count)
        outcome.failures.append("recover: \(name) lacks \(missing.sorted().first ?? "")")
      }
    }
  }

  /// Returns the fields of documents of which another one with the same row ID or key is saved: a page that was copied
  /// over another one can have a former version of a document, of whose versions the first is saved.
  private static func otherVersions(_ lines: [String], _ saved: Set<String>) -> Set<String> {
    var identities: Set<String> = []
    func names(_ line: String) -> [String] {
      let parts = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4 else { return [] }
      return ["\(parts[0])"] + (parts[1].isEmpty ? [] : ["key \(parts[1])"])
    }
    for line in lines where !fields([line]).isDisjoint(with: saved) {
      identities.formUnion(names(line))
    }
    return fields(lines.filter { names($0).contains(where: identities.contains) })
  }

  private static func fields(_ lines: some Sequence<String>) -> Set<String> {
    Set(
      lines.compactMap { line in
        line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false).last
          .map(String.init)
      })
  }
}
