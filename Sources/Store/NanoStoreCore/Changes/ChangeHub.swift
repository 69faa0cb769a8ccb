// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import NanoQuery
import Synchronization

/// Receives the commits of a store and determines which observers they affect.
///
/// It observes the engine while there are observers. A writer only adds its commit to the inbox; on
/// the hub's queue, the changed documents are read once and matched against every observer's
/// condition.
final class ChangeHub: Sendable {
  fileprivate struct State {
    /// The observed engine; nil without observers.
    var engine: (any Engine)?
    var observation: CommitObservation?
    var signals: [ObjectIdentifier: InvalidationSignal] = [:]
    var feeds: [ObjectIdentifier: FeedBuffer] = [:]
    /// The number of live queries per collection, so that commits to other collections are ignored
    /// cheaply.
    var signalCounts: [ExactName: Int] = [:]
    /// The commits since the last processing, merged.
    var inbox: Commit?
    var isProcessing = false
    /// The engine that was closed last, which cannot be observed any more.
    weak var closed: (any Engine)?
  }
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "NanoStore.changes")
  /// Held while an observation of an engine begins, which may take seconds on a server. ``state`` is not, since the actors
  /// of live results wait for it.
  private let beginning = Mutex<(engine: ObjectIdentifier, error: any Error)?>(nil)
  /// The number of observations that could not begin. The error of the last one is in ``beginning``.
  private let failures = Atomic(0)
  /// Called after commits that other connections or processes may have made, while something is observed, and when an
  /// observation begins.
  private let otherCommitsHandler = Mutex<(@Sendable () -> Void)?>(nil)

  func setOtherCommitsHandler(_ handler: @escaping @Sendable () -> Void) {
    otherCommitsHandler.withLock { $0 = handler }
  }

  /// Makes the live queries of a collection run again, because documents have expired that are not deleted.
  func noteExpired(_ collection: String) { enqueue(Commit([Change(collection, nil)])) }

  /// The minimum interval between two rounds of processing, so that a burst of commits is processed
  /// together. Arbitrary: not perceptible.
  private static let pause = DispatchTimeInterval.milliseconds(2)

  /// - Throws: ``StoreError/Code/unsupported``, ``StoreError/Code/closed``.
  func add(_ signal: InvalidationSignal, on engine: any Engine) throws {
    try listen(to: engine) { state in
      state.signals[ObjectIdentifier(signal)] = signal
      for name in signal.collections { state.signalCounts[name, default: 0] += 1 }
    }
  }

  func add(_ feed: FeedBuffer, on engine: any Engine) throws {
    try listen(to: engine) { $0.feeds[ObjectIdentifier(feed)] = feed }
  }

  private func listen(to engine: any Engine, _ add: (inout sending State) -> Void) throws {
    if addIfObserved(engine, add) { return }
    let failures = failures.load(ordering: .acquiring)
    let (begins, stale) = try beginning.withLock { last in
      if addIfObserved(engine, add) { return (false, nil as State?) }
      // An attempt that failed while this call waited. Otherwise, observers that are added at the same time while a server
      // cannot be reached would wait for the timeouts of all before them.
      if let last, last.engine == ObjectIdentifier(engine),
        failures != self.failures.load(ordering: .acquiring)
      {
        throw last.error
      }
      let observation: CommitObservation
      do {
        observation = try engine.observeCommits { [weak self] in self?.receive($0) }
      } catch {
        last = (ObjectIdentifier(engine), error)
        self.failures.add(1, ordering: .releasing)
        throw error
      }
      return try state.withLock { state in
        guard state.closed !== engine else {
          observation.cancel()
          throw StoreError(.closed, "The store is closed")
        }
        let stale = Self.takeAll(&state)
        (state.engine, state.observation) = (engine, observation)
        add(&state)
        return (true, stale as State?)
      }
    }
    // These observed an engine that is being closed.
    stale.map(Self.end)
    // Nothing has reported earlier commits of others, which only a durable database has.
    if begins, engine.capabilities.contains(.durable) { otherCommitsHandler.withLock(\.self)?() }
  }

  private func addIfObserved(
    _ engine: any Engine, _ add: (inout sending State) -> Void
  ) -> Bool {
    state.withLock { state in
      guard state.engine === engine else { return false }
      add(&state)
      return true
    }
  }

  func remove(_ signal: InvalidationSignal) {
    signal.end()
    state.withLock { state in
      guard state.signals.removeValue(forKey: ObjectIdentifier(signal)) != nil else { return }
      for name in signal.collections {
        state.signalCounts[name]? -= 1
        if state.signalCounts[name] == 0 { state.signalCounts[name] = nil }
      }
      Self.stopIfIdle(&state)
    }
  }

  func remove(_ feed: FeedBuffer) {
    feed.end()
    state.withLock { state in
      state.feeds[ObjectIdentifier(feed)] = nil
      Self.stopIfIdle(&state)
    }
  }

  private static func stopIfIdle(_ state: inout State) {
    guard state.signals.isEmpty, state.feeds.isEmpty else { return }
    state.observation?.cancel()
    (state.observation, state.engine, state.inbox) = (nil, nil, nil)
  }

  /// Ends the observers of an engine that is being closed.
  func end(_ engine: any Engine) {
    let ended = state.withLock { state in
      defer { state.closed = engine }
      return state.engine === engine ? Self.takeAll(&state) : nil
    }
    ended.map(Self.end)
  }

  private static func takeAll(_ state: inout State) -> State {
    state.observation?.cancel()
    let taken = state
    state = State(isProcessing: taken.isProcessing)
    state.closed = taken.closed
    return taken
  }

  private static func end(_ state: State) {
    for signal in state.signals.values { signal.end() }
    for feed in state.feeds.values { feed.end() }
  }
}

extension ChangeHub {
  /// Receives a commit, on the thread of the writer.
  private func receive(_ commit: Commit) {
    // If it concerns live queries, the handler is called when it is processed.
    if !enqueue(commit), commit.mayBeOfOthers { otherCommitsHandler.withLock(\.self)?() }
  }

  /// Returns whether the commit concerns live queries.
  @discardableResult
  private func enqueue(_ commit: Commit) -> Bool {
    let (feeds, isConcerned, begins) = state.withLock { state in
      guard state.concerns(commit) else { return (Array(state.feeds.values), false, false) }
      if state.inbox?.merge(commit) == nil { state.inbox = commit }
      defer { state.isProcessing = true }
      return (Array(state.feeds.values), true, !state.isProcessing)
    }
    for feed in feeds { feed.add(commit) }
    if begins { queue.async { self.process() } }
    return isConcerned
  }

  /// Signals the live queries whose results may have changed. Repeats after a pause while commits
  /// arrive.
  private func process() {
    let task = state.withLock { state -> (Commit, [InvalidationSignal], any Engine)? in
      guard let commit = state.inbox, let engine = state.engine else {
        state.isProcessing = false
        return nil
      }
      state.inbox = nil
      return (commit, Array(state.signals.values), engine)
    }
    guard let (commit, signals, engine) = task else { return }
    if commit.isEverything { endFeedsIfReplaced(engine) }
    if commit.mayBeOfOthers { otherCommitsHandler.withLock(\.self)?() }
    var candidates: [ExactName: (change: Change, signals: [InvalidationSignal])] = [:]
    for signal in signals {
      switch signal.verdict(on: commit) {
      case .unaffected: break
      case .invalidated: signal.invalidate()
      case .invalidatedIfMatching(let change):
        candidates[ExactName(signal.collection), default: (change, [])].signals.append(signal)
      }
    }
    for (change, signals) in candidates.values { Self.match(signals, against: change, engine) }
    queue.asyncAfter(deadline: .now() + Self.pause) { self.process() }
  }

  /// Ends feeds if the file was replaced. Live queries read again and receive the error themselves;
  /// feeds do not read.
  private func endFeedsIfReplaced(_ engine: any Engine) {
    do {
      try engine.read(.call, nil) { _ in }
    } catch let failure as StoreError where failure.code == .fileReplaced {
      let feeds = state.withLock { Array($0.feeds.values) }
      for feed in feeds { feed.end(with: failure) }
    } catch {
      // An unrelated read error; the next read may succeed.
    }
  }

  /// Signals the live queries whose conditions match a changed document.
  private static func match(
    _ signals: [InvalidationSignal], against change: Change, _ engine: any Engine
  ) {
    let remaining = (change.rows ?? [:]).filter { $0.value != .deleted }.keys
    do {
      try engine.read(.snapshot, nil) { reader in
        let defaults = FieldDefaults(try reader.settings(of: change.collection).defaults)
        for id in remaining {
          try reader.get(.rowID(id), in: change.collection) { document in
            for signal in signals where signal.isArmed && signal.matches(document, defaults) {
              signal.invalidate()
            }
          }
        }
      }
    } catch {
      // They read again and receive the error, if it persists.
      for signal in signals { signal.invalidate() }
    }
  }
}

extension Commit {
  /// Whether other connections or processes may have made it.
  fileprivate var mayBeOfOthers: Bool {
    isEverything || mayHaveNewExpirations || changes.contains { $0.rows == nil }
  }
}

extension ChangeHub.State {
  fileprivate func concerns(_ commit: Commit) -> Bool {
    if commit.isEverything {
      return !feeds.isEmpty || signalCounts.keys.contains { commit.change(in: $0.text) != nil }
    }
    return commit.changes.contains { signalCounts[$0.collection.folded] != nil }
  }
}
