// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Synchronization

/// The mutations to test, and the results so far.
final class DamageProgress: Sendable {
  private struct State {
    var next: Int
    var facts: [String: Int] = [:]
    var failures: [String] = []
  }
  private let end: Int
  private let deadline: ContinuousClock.Instant?
  private let state: Mutex<State>

  init(first: Int, end: Int, seconds: Double) {
    self.end = end
    deadline = seconds.isFinite ? .now + .seconds(seconds) : nil
    state = Mutex(State(next: first))
  }

  func next() -> Int? {
    state.withLock { state in
      guard state.next < end, deadline.map({ $0 > .now }) ?? true else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  func fail(_ message: String) {
    state.withLock { $0.failures.append(message) }
    note(message)
  }

  /// Adds the result that a child process reported for one mutation.
  func add(_ report: DocumentObject, verbose: Bool) {
    let number = report["number"]?.int ?? -1
    let what = "\(number) (\(report["sample"]?.string ?? ""), \(report["what"]?.string ?? ""))"
    if verbose { note("\(what): \(report["facts"]?.object?.jsonString() ?? "")") }
    state.withLock { state in
      for field in report["facts"]?.object ?? [:] {
        state.facts[field.name, default: 0] += Int(field.value.int ?? 0)
      }
    }
    let failures = report["failures"]?.array ?? []
    for failure in failures.prefix(2) { fail("\(what): \(failure.string ?? "")") }
    if failures.count > 2 { fail("\(what): and \(failures.count - 2) more") }
  }

  var failures: [String] { state.withLock { $0.failures } }

  /// The keys of all counts, in order, with their descriptions.
  private static let names = [
    ("mutations", "damaged stores"), ("bytes", "damaged by changing bytes"),
    ("rows", "damaged with SQL"), ("log", "damaged in the log"),
    ("notOpened", "refused when opened"), ("errors", "typed errors"),
    ("contentsAsBefore", "unchanged contents"),
    ("contentsChangedFound", "changed contents, found by verify"),
    ("contentsChangedUnseen", "changed contents, not detectable"),
    ("wrongAnswersFoundByVerify", "wrong index results, all found by verify"),
    ("recovered", "recovered"), ("notRecovered", "nothing to recover"),
    ("documents", "documents before the damage"),
    ("documentsRecovered", "documents recovered unchanged"),
  ]

  var figures: Figures {
    let facts = state.withLock { $0.facts }
    var figures = Figures()
    for (name, words) in Self.names { figures[words] = facts[name] ?? 0 }
    return figures
  }
}
