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

  /// Checks that the latest results become those of a fetch.
  func requireCurrent() throws {
    // Long enough for a busy machine.
    let end = ContinuousClock.now + .seconds(60)
    while true {
      switch latest.state.withLock({ $0 }) {
      case .failed(let error):
        guard error is StoreError else { throw error }
        return
      case .waiting: break
      case .results(let texts):
        // Without commits that concern it, a live query does not notice that it is no longer possible.
        guard let expected = try? Self.texts(query.fetch()) else { return }
        if expected == texts { return }
      }
      guard ContinuousClock.now < end else {
        throw StressTestFailure(
          "a live query has \(latest.state.withLock { "\($0)" }), and a fetch "
            + "\((try? Self.texts(query.fetch())) ?? [])")
      }
      Thread.sleep(forTimeInterval: 0.001)
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
