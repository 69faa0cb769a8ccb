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
    var watches: [ObjectIdentifier: InvalidationSignal] = [:]
    var feeds: [ObjectIdentifier: FeedBuffer] = [:]
    /// The number of live queries per collection, so that commits to other collections are ignored
    /// cheaply.
    var watched: [ExactName: Int] = [:]
    /// The commits since the last processing, merged.
    var inbox: Commit?
    var isLooking = false
  }
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "NanoStore.changes")

  /// The minimum interval between two rounds of processing, so that a burst of commits is processed
  /// together. Arbitrary: not perceptible.
  private static let pause = DispatchTimeInterval.milliseconds(2)

  /// - Throws: ``StoreError/Code/unsupported``, ``StoreError/Code/closed``.
  func add(_ watch: InvalidationSignal, on engine: any Engine) throws {
    try listen(to: engine) { state in
      state.watches[ObjectIdentifier(watch)] = watch
      state.watched[ExactName(watch.collection), default: 0] += 1
    }
  }

  func add(_ feed: FeedBuffer, on engine: any Engine) throws {
    try listen(to: engine) { $0.feeds[ObjectIdentifier(feed)] = feed }
  }

  private func listen(to engine: any Engine, _ add: (inout sending State) -> Void) throws {
    let stale = try state.withLock { state in
      guard state.engine !== engine else {
        add(&state)
        return nil as State?
      }
      let observation = try engine.observeCommits { [weak self] in self?.receive($0) }
      let stale = Self.takeAll(&state)
      (state.engine, state.observation) = (engine, observation)
      add(&state)
      return stale
    }
    // These observed an engine that is being closed.
    stale.map(Self.end)
  }

  func remove(_ watch: InvalidationSignal) {
    watch.end()
    state.withLock { state in
      guard state.watches.removeValue(forKey: ObjectIdentifier(watch)) != nil else { return }
      state.watched[ExactName(watch.collection)]? -= 1
      if state.watched[ExactName(watch.collection)] == 0 {
        state.watched[ExactName(watch.collection)] = nil
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
    guard state.watches.isEmpty, state.feeds.isEmpty else { return }
    state.observation?.cancel()
    (state.observation, state.engine, state.inbox) = (nil, nil, nil)
  }

  /// Ends the observers of an engine that is being closed.
  func end(_ engine: any Engine) {
    let ended = state.withLock { $0.engine === engine ? Self.takeAll(&$0) : nil }
    ended.map(Self.end)
  }

  private static func takeAll(_ state: inout State) -> State {
    state.observation?.cancel()
    let taken = state
    state = State(isLooking: taken.isLooking)
    return taken
  }

  private static func end(_ state: State) {
    for watch in state.watches.values { watch.end() }
    for feed in state.feeds.values { feed.end() }
  }
}

extension ChangeHub {
  /// Receives a commit, on the thread of the writer.
  private func receive(_ commit: Commit) {
    let (feeds, begins) = state.withLock { state in
      guard state.concerns(commit) else { return (Array(state.feeds.values), false) }
      if state.inbox?.merge(commit) == nil { state.inbox = commit }
      defer { state.isLooking = true }
      return (Array(state.feeds.values), !state.isLooking)
    }
    for feed in feeds { feed.add(commit) }
    if begins { queue.async { self.look() } }
  }

  /// Signals the live queries whose results may have changed. Repeats after a pause while commits
  /// arrive.
  private func look() {
    let task = state.withLock { state -> (Commit, [InvalidationSignal], any Engine)? in
      guard let commit = state.inbox, let engine = state.engine else {
        state.isLooking = false
        return nil
      }
      state.inbox = nil
      return (commit, Array(state.watches.values), engine)
    }
    guard let (commit, watches, engine) = task else { return }
    if commit.isEverything { endFeedsIfReplaced(engine) }
    var asking: [ExactName: (change: Change, watches: [InvalidationSignal])] = [:]
    for watch in watches {
      switch watch.verdict(on: commit) {
      case .untouched: break
      case .touched: watch.touch()
      case .touchedIfFound(let change):
        asking[ExactName(watch.collection), default: (change, [])].watches.append(watch)
      }
    }
    for (change, watches) in asking.values { Self.ask(watches, about: change, engine) }
    queue.asyncAfter(deadline: .now() + Self.pause) { self.look() }
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
  private static func ask(
    _ watches: [InvalidationSignal], about change: Change, _ engine: any Engine
  ) {
    let there = (change.rows ?? [:]).filter { $0.value != .deleted }.keys
    do {
      try engine.read(.snapshot, nil) { reader in
        let defaults = FieldDefaults(try reader.settings(of: change.collection).defaults)
        for id in there {
          try reader.get(.rowID(id), in: change.collection) { document in
            for watch in watches where watch.isAsking && watch.finds(document, defaults) {
              watch.touch()
            }
          }
        }
      }
    } catch {
      // They read again and receive the error, if it persists.
      for watch in watches { watch.touch() }
    }
  }
}

extension ChangeHub.State {
  fileprivate func concerns(_ commit: Commit) -> Bool {
    if commit.isEverything { return !watches.isEmpty || !feeds.isEmpty }
    return commit.changes.contains { watched[$0.collection.folded] != nil }
  }
}
