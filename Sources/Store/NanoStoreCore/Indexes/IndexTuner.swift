// SPDX-License-Identifier: MIT

import Dispatch
import Logging
import NanoDocument
import NanoEngine
import Synchronization

/// What earlier runs have stored.
struct StoredTuning {
  let records: [IndexCostRecord]
  /// The builds that they started.
  let unfinished: [PendingIndex]

  init(_ reader: any EngineReader) throws {
    records = try reader.indexCostRecords()
    unfinished = try reader.unfinishedIndexes()
  }
}

/// Updates the cost model with what the engine reports, and builds and drops indexes on its own
/// thread, after the queries and outside of the caller's transactions.
final class IndexTuner: Sendable {
  struct State {
    var model = IndexCostModel()
    /// Nil while the store is closed.
    var engine: (any Engine)?
    var isLoaded = false
    var isLoading = false
    /// The collections whose cost model has changed since it was last stored.
    var changed: Set<ExactName> = []
    var saved = ContinuousClock.now
    var build: RunningBuild?
    /// Indexes that are decided but not usable yet, in the order in which they are built.
    var announced: [BuildPlan] = []
    /// The number of scheduled and running work items, and the closures to call when it reaches
    /// zero.
    var outstanding = 0
    var waiters: [@Sendable () -> Void] = []

    /// Adds the stored model, once, to what was recorded before.
    ///
    /// - Returns: Whether the model was added, and not already loaded.
    mutating func load(_ rows: [IndexCostRecord]) -> Bool {
      guard !isLoaded else { return false }
      var stored = IndexCostModel(rows: rows)
      stored.add(model)
      model = stored
      isLoaded = true
      return true
    }
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

  /// Creates the observer to open the engine with. Called once.
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

  /// Interrupts running work, waits for it, and stores the cost model.
  func stop() {
    let (engine, build) = state.withLock { state in
      defer { state.engine = nil }
      return (state.engine, state.build)
    }
    build?.interruption.trigger()
    queue.sync {}
    if let engine { save(on: engine) }
    state.withLock { state in
      state.model = IndexCostModel()
      state.isLoaded = false
      state.isLoading = false
      state.changed = []
    }
  }
}

extension IndexTuner {
  func scanned(_ report: ScanReport) {
    // A probe by the tuner is not a user's query.
    guard DispatchQueue.getSpecific(key: Self.onQueue) == nil else { return }
    change(report.collection) { $0.charge(report) }
  }

  func wrote(_ collection: String, _ count: Int, commits: Int) {
    let uses = observer.withLock { $0 }?.takeUses() ?? []
    change(collection) { model in
      for use in uses { model.used(use.collection, use.index, use.count) }
      model.wrote(collection, count, commits: commits)
    }
  }

  /// Adds the uses counted by the observer. They are counted outside of the model, without a lock.
  func noteUses() {
    for use in observer.withLock({ $0 })?.takeUses() ?? [] {
      state.withLock { state in
        state.model.used(use.collection, use.index, use.count)
        state.changed.insert(ExactName(use.collection))
      }
    }
  }

  /// Changes the cost model and carries out the decisions that follow.
  func change(_ collection: String, _ change: (inout IndexCostModel) -> Void) {
    let (loads, saves, due) = state.withLock { state -> (Bool, Bool, [TuningDecision]) in
      guard state.engine != nil else { return (false, false, []) }
      change(&state.model)
      state.changed.insert(ExactName(collection))
      guard state.isLoaded else {
        defer { state.isLoading = true }
        return (!state.isLoading, false, [])
      }
      let due = mode == .automatic ? state.model.takeDue(collection) : []
      let saves = ContinuousClock.now - state.saved > Self.savingInterval
      if saves { state.saved = .now }
      return (false, saves, due)
    }
    if loads { schedule { self.load() } }
    if saves { schedule { self.saveNow() } }
    for decision in due { carryOut(decision) }
  }

  /// The interval between saves of the model without decisions. Arbitrary: a killed process loses
  /// only a few charges.
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

  /// Calls a closure once all decisions have been carried out.
  func onIdle(_ done: @escaping @Sendable () -> Void) {
    let isIdle = state.withLock { state in
      if state.outstanding > 0 { state.waiters.append(done) }
      return state.outstanding == 0
    }
    if isIdle { done() }
  }
}

extension IndexTuner {
  /// Reads the model stored by earlier runs, and continues the builds that they started.
  func load() {
    guard let engine = state.withLock({ $0.engine }) else { return }
    do {
      let stored = try engine.read(.snapshot, nil) { try StoredTuning($0) }
      resume(stored)
      let decisions = state.withLock { state -> [TuningDecision] in
        guard mode == .automatic else { return [] }
        return state.model.collections.keys.sorted().flatMap { state.model.takeDue($0.text) }
      }
      for decision in decisions { carryOut(decision) }
    } catch {
      state.withLock { $0.isLoading = false }
      log(error, "The index cost model cannot be read", collection: nil)
    }
  }

  /// Adds the stored model, and schedules the unfinished builds, once.
  func resume(_ stored: StoredTuning) {
    guard state.withLock({ $0.load(stored.records) }) else { return }
    for item in stored.unfinished { schedule { self.resumeBuild(item) } }
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
        uniqueKeysWithValues: state.changed.map { ($0, state.model.rows(of: $0.text)) })
    }
    guard !rows.isEmpty else { return }
    do {
      try engine.write(nil) { writer in
        for (collection, rows) in rows { try writer.setIndexCostRecords(rows, of: collection.text) }
      }
    } catch {
      // Only recorded costs are lost, and further queries will record them again.
      log(error, "The index cost model cannot be written", collection: nil)
    }
  }

  func log(_ error: any Error, _ message: Logger.Message, collection: String?) {
    var metadata: Logger.Metadata = ["error": "\(error)"]
    if let collection { metadata["collection"] = "\(collection)" }
    logger.warning(message, metadata: metadata)
  }
}
