// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting
import Synchronization

/// A reference engine that counts its observers and reads, and runs a closure before a read, in place of another thread, or
/// before an observation.
final class SpyEngine: ForwardingEngine {
  let engine: any Engine = ReferenceEngine()
  private let counts: Counts
  private let action = Mutex<(@Sendable () -> Void)?>(nil)

  /// Counters that outlive the engine.
  final class Counts: Sendable {
    let observers = Atomic(0)
    let reads = Atomic(0)
    let beforeObserving = Mutex<(@Sendable () throws -> Void)?>(nil)
  }

  init(_ counts: Counts = Counts()) { self.counts = counts }

  func beforeNextRead(_ work: @escaping @Sendable () -> Void) { action.withLock { $0 = work } }

  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    counts.reads.add(1, ordering: .sequentiallyConsistent)
    let action = action.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
    return try engine.read(scope, interruption, work)
  }
  func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try engine.write(isolation, interruption, work)
  }
  func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    try counts.beforeObserving.withLock(\.self)?()
    let observation = try engine.observeCommits(handler)
    counts.observers.add(1, ordering: .sequentiallyConsistent)
    return CommitObservation { [counts] in
      observation.cancel()
      counts.observers.subtract(1, ordering: .sequentiallyConsistent)
    }
  }
}

extension SpyEngine.Counts {
  var observerCount: Int { observers.load(ordering: .sequentiallyConsistent) }
  var readCount: Int { reads.load(ordering: .sequentiallyConsistent) }
}
