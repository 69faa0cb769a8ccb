// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting
import Synchronization

/// A live query that runs beside a program.
final class LiveObservation: Sendable {
  private enum State {
    case waiting
    case results([String])
    /// Some conditions fail for some documents, which ends the query.
    case failed(any Error)
  }
  private let query: DocumentQuery
  private let task: Task<Void, Never>
  private let latest: Latest

  private final class Latest: Sendable {
    let state = Mutex(State.waiting)
  }

  init(_ query: DocumentQuery) {
    let latest = Latest()
    self.query = query
    self.latest = latest
    task = Task.detached {
      do {
        for try await documents in query.updates() {
          let texts = try Self.texts(documents)
          latest.state.withLock { $0 = .results(texts) }
        }
      } catch {
        latest.state.withLock { $0 = .failed(error) }
      }
    }
  }

  /// Checks that the latest results become those of a fetch, or that the query has failed like a fetch.
  func requireCurrent() throws {
    guard let failure = try failureBesideFetch() else { return }
    // Documents and indexes of an earlier moment may have ended the query, but not a new one.
    let renewed = LiveObservation(query)
    defer { renewed.end() }
    try require(
      try renewed.failureBesideFetch() == nil,
      "a live query fails with \(failure.debugDescription), and a fetch does not")
  }

  /// Waits until the latest results are those of a fetch.
  ///
  /// - Returns: The error that ended the query, if a fetch succeeds.
  private func failureBesideFetch() throws -> StoreError? {
    // Long enough for a busy machine.
    let end = ContinuousClock.now + .seconds(600)
    while true {
      switch latest.state.withLock({ $0 }) {
      case .failed(let error):
        guard let failure = error as? StoreError, !failure.code.isOfEnvironment else {
          throw StressTestFailure("a live query fails with \(error)")
        }
        return try fetched() == nil ? nil : failure
      case .waiting: break
      case .results(let texts):
        // Without commits that concern it, a live query does not notice that it is no longer possible.
        guard let expected = try fetched() else { return nil }
        if expected == texts { return nil }
      }
      guard ContinuousClock.now < end else {
        throw StressTestFailure(
          "a live query has \(latest.state.withLock { "\($0)" }), and a fetch "
            + "\((try? Self.texts(query.fetch())) ?? [])")
      }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  /// Returns the results of a fetch; nil if it fails for a reason that a program can cause.
  func fetched() throws -> [String]? {
    do {
      return try Self.texts(query.fetch())
    } catch let error as StoreError {
      try require(
        !error.code.isOfEnvironment, "a fetch fails with \(error.debugDescription)")
      return nil
    }
  }

  func end() { task.cancel() }

  private static func texts(_ documents: [Document]) throws -> [String] {
    try documents.map { try $0.allText() }
  }
}

extension ProgramExecutor {
  /// Observes at most two queries at a time, because each takes a while to start.
  func observe(_ name: String, _ query: Query) {
    if observations.count == 2 { observations.removeFirst().end() }
    observations.append(LiveObservation(store[name].find(query)))
  }

  func endObservations() {
    for observation in observations { observation.end() }
    observations = []
  }
}
