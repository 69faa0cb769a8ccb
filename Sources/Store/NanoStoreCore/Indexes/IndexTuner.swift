// SPDX-License-Identifier: MIT

import Dispatch
import Logging
import NanoDocument
import NanoEngine
import Synchronization

/// Feeds the ledger with what the engine tells, and makes and drops indexes on a thread of its own, after
/// the queries and outside of every transaction of a caller.
final class IndexTuner: Sendable {
  struct State {
    var ledger = IndexCostModel()
    /// Nil while the store is closed.
    var engine: (any Engine)?
    var isLoaded = false
    var isLoading = false
    /// The collections whose ledger the file does not have yet.
    var changed: Set<ExactName> = []
    var saved = ContinuousClock.now
    var build: RunningBuild?
    /// Indexes that were decided and can not be used yet, in the order in which they are made.
    var coming: [BuildPlan] = []
    /// Work that waits or runs, and who waits for its end.
    var outstanding = 0
    var waiters: [@Sendable () -> Void] = []
  }

  let mode: IndexTuning
  let logger: Logger
  let state = Mutex(State())
  private let queue = DispatchQueue(label: "NanoStore.indexes")
  static let onQueue = DispatchSpecificKey<Bool>()

  init(_ mode: IndexTuning, _ logger: Logger) {
    self.mode = mode
    self.logger = logger
    queue.setSpecific(key: Self.onQueue, value: true)
  }

  /// What the engine is to be opened with; made once.
  func makeObserver() -> QueryObserver {
    let observer = QueryObserver(
      minimumRows: CollectionCostModel.minimumDocuments,
      scanned: { [weak self] in self?.scanned($0) },
      written: { [weak self] in self?.wrote($0, $1, commits: $2) },
      writerWaits: { [weak self] in self?.writerWaits() },
      willScan: { [weak self] in try self?.wait(in: $0, for: $1, check: $2) })
    self.observer.withLock { $0 = observer }
    return observer
  }
  let observer = Mutex<QueryObserver?>(nil)

  func start(_ engine: any Engine) { state.withLock { $0.engine = engine } }

  /// Stops what runs, waits for it, and keeps the ledger.
  func stop() {
    let (engine, build) = state.withLock { state in
      defer { state.engine = nil }
      return (state.engine, state.build)
    }
    build?.interruption.trigger()
    queue.sync {}
    if let engine { save(on: engine) }
    state.withLock { state in
      state.ledger = IndexCostModel()
      state.isLoaded = false
      state.isLoading = false
      state.changed = []
    }
  }
}

extension IndexTuner {
  func scanned(_ report: ScanReport) {
    // A probe of ours is nobody's query.
    guard DispatchQueue.getSpecific(key: Self.onQueue) == nil else { return }
    change(report.collection) { $0.charge(report) }
  }

  func wrote(_ collection: String, _ count: Int, commits: Int) {
    let uses = observer.withLock { $0 }?.takeUses() ?? []
    change(collection) { ledger in
      for use in uses { ledger.used(use.collection, use.index, use.count) }
      ledger.wrote(collection, count, commits: commits)
    }
  }

  /// Uses are counted beside the ledger, where nobody waits.
  func noteUses() {
    for use in observer.withLock({ $0 })?.takeUses() ?? [] {
      state.withLock { state in
        state.ledger.used(use.collection, use.index, use.count)
        state.changed.insert(ExactName(use.collection))
      }
    }
  }

  /// Changes the ledger, and does what follows.
  func change(_ collection: String, _ change: (inout IndexCostModel) -> Void) {
    let (loads, saves, due) = state.withLock { state -> (Bool, Bool, [TuningDecision]) in
      guard state.engine != nil else { return (false, false, []) }
      change(&state.ledger)
      state.changed.insert(ExactName(collection))
      guard state.isLoaded else {
        defer { state.isLoading = true }
        return (!state.isLoading, false, [])
      }
      let due = mode == .automatic ? state.ledger.takeDue(collection) : []
      let saves = ContinuousClock.now - state.saved > Self.savingInterval
      if saves { state.saved = .now }
      return (false, saves, due)
    }
    if loads { schedule { self.load() } }
    if saves { schedule { self.saveNow() } }
    for decision in due { carryOut(decision) }
  }

  /// Time between two savings of a ledger in which nothing was decided. Arbitrary; what a killed process
  /// loses is a few charges.
  private static let savingInterval = Duration.seconds(30)

  func carryOut(_ decision: TuningDecision) {
    switch decision {
    case .build(let plan):
      announce(plan)
      schedule { self.build(plan) }
    case .drop(let plan): schedule { self.drop(plan) }
    }
  }

  /// Runs a block on the tuner's thread.
  func schedule(after seconds: Double = 0, _ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.outstanding += 1 }
    let run: @Sendable () -> Void = {
      work()
      let waiters = self.state.withLock { state -> [@Sendable () -> Void] in
        state.outstanding -= 1
        guard state.outstanding == 0 else { return [] }
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter() }
    }
    if seconds > 0 {
      queue.asyncAfter(deadline: .now() + seconds, execute: run)
    } else {
      queue.async(execute: run)
    }
  }

  /// Calls a closure once everything that was decided has been done.
  func whenDone(_ done: @escaping @Sendable () -> Void) {
    let isIdle = state.withLock { state in
      if state.outstanding > 0 { state.waiters.append(done) }
      return state.outstanding == 0
    }
    if isIdle { done() }
  }
}

extension IndexTuner {
  /// Reads what earlier runs found out, and goes on with what they began.
  func load() {
    guard let engine = state.withLock({ $0.engine }) else { return }
    do {
      let (rows, begun) = try engine.read(.snapshot, nil) {
        (try $0.indexLedger(), try $0.unfinishedIndexes())
      }
      let decisions = state.withLock { state -> [TuningDecision] in
        var ledger = IndexCostModel(rows: rows)
        ledger.add(state.ledger)
        state.ledger = ledger
        state.isLoaded = true
        guard mode == .automatic else { return [] }
        return state.ledger.collections.keys.sorted().flatMap { state.ledger.takeDue($0.text) }
      }
      for item in begun { schedule { self.goOn(item) } }
      for decision in decisions { carryOut(decision) }
    } catch {
      state.withLock { $0.isLoading = false }
      log(error, "The ledger of indexes cannot be read", collection: nil)
    }
  }

  func saveNow() {
    guard let engine = state.withLock({ $0.engine }) else { return }
    save(on: engine)
  }

  private func save(on engine: any Engine) {
    noteUses()
    let rows = state.withLock { state -> [ExactName: [IndexCostRecord]] in
      guard state.isLoaded else { return [:] }
      defer { state.changed = [] }
      state.saved = .now
      return Dictionary(
        uniqueKeysWithValues: state.changed.map { ($0, state.ledger.rows(of: $0.text)) })
    }
    guard !rows.isEmpty else { return }
    do {
      try engine.write(nil) { writer in
        for (collection, rows) in rows { try writer.setIndexLedger(rows, of: collection.text) }
      }
    } catch {
      // Only what queries cost is lost, and they will cost it again.
      log(error, "The ledger of indexes cannot be written", collection: nil)
    }
  }

  func log(_ error: any Error, _ message: Logger.Message, collection: String?) {
    var metadata: Logger.Metadata = ["error": "\(error)"]
    if let collection { metadata["collection"] = "\(collection)" }
    logger.warning(message, metadata: metadata)
  }
}
