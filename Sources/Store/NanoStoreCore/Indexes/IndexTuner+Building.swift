// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Logging
import NanoDocument
import NanoEngine
import NanoQuery

/// An index that is being made in one statement, while every writer of this process waits.
struct RunningBuild {
  let interruption: Interruption
  /// When it should be done.
  let end: ContinuousClock.Instant
  /// Whether it ends for a writer that waits.
  let givesWay: Bool
}

extension IndexTuner {
  /// How long a writer waits for an index before the index gives way. Arbitrary: what a person does not
  /// notice.
  static let patience = Duration.milliseconds(50)
  /// How often one gives way. With writers that never pause it would otherwise never be made.
  static let maximumAttempts = 2
  /// Seconds between looks for a quiet moment, which is one without a commit in between. Arbitrary. Queries
  /// scan meanwhile: all attempts together wait no longer than the build is estimated to take.
  private static let pause = 0.02
  /// Seconds that a step of an index on elements takes about: less than the patience, so that a writer
  /// never waits longer.
  private static let step = 0.02
  /// Documents of the first step. Arbitrary; the next ones follow from how long it took.
  private static let firstStep = 256

  func build(_ plan: BuildPlan) {
    defer { withdraw(plan) }
    do {
      try perform(plan)
    } catch let error as StoreError where [.interrupted, .locked].contains(error.code) {
      giveWay(plan)
    } catch {
      log(error, "An index cannot be made", collection: plan.collection)
      settle(plan) { $0.refused(plan) }
    }
  }

  /// - Throws: What kept the index from being made; the plan is still pending.
  func perform(_ plan: BuildPlan) throws {
    guard let engine = state.withLock({ $0.engine }) else { return }
    if let probe = plan.probe, try !pays(probe, plan, engine) {
      logger.debug("index would find too much", metadata: metadata(plan))
      settle(plan) { $0.refused(plan) }
    } else if let made = try make(plan, engine) {
      logger.info("index made", metadata: metadata(plan, seconds: made.seconds))
      settle(plan) {
        $0.made(
          plan, seconds: made.seconds, documents: made.documents, superseded: made.superseded)
      }
    } else {
      settle(plan) { $0.exists(plan) }
    }
  }

  /// Whether what the index can answer finds so few documents that looking them up is cheaper than
  /// looking through all: the rest of the condition finds fewer still, but only after they were read.
  private func pays(_ answered: Condition, _ plan: BuildPlan, _ engine: any Engine) throws -> Bool {
    let (found, all) = try engine.read(.snapshot, nil) { reader in
      (
        try reader.count(Query(answered), in: plan.collection),
        try reader.count(Query(), in: plan.collection)
      )
    }
    return Double(found) * CollectionCostModel.lookUpFactor < Double(all)
  }

  private struct Made {
    var seconds: Double
    var documents: Int?
    var superseded: [String] = []
  }

  /// Nil if it is there already, or the collection is gone.
  private func make(_ plan: BuildPlan, _ engine: any Engine) throws -> Made? {
    // What was begun is gone on with; what gave way once is made in steps.
    guard plan.index.kind == .elements, plan.attempts > 0 else {
      return try makeAtOnce(plan, engine)
    }
    return try makeInSteps(plan, engine)
  }

  /// SQLite makes an index in one go faster than in any other way: it is stopped, and undone, if a writer
  /// waits.
  private func makeAtOnce(_ plan: BuildPlan, _ engine: any Engine) throws -> Made? {
    let interruption = Interruption()
    let made = try engine.write(interruption) { writer -> Made? in
      guard try isWanted(plan, writer) else { return nil }
      began(plan, interruption)
      defer { state.withLock { $0.build = nil } }
      let start = ThreadCPUClock.seconds
      try writer.createIndex(plan.index, in: plan.collection)
      var made = Made(seconds: ThreadCPUClock.seconds - start)
      for old in try writer.indexes(in: plan.collection) where plan.index.supersedes(old) {
        if try writer.dropIndex(old.name, in: plan.collection) { made.superseded.append(old.name) }
      }
      return made
    }
    guard var made else { return nil }
    made.documents = try? engine.read(.call, nil) { try $0.count(Query(), in: plan.collection) }
    return made
  }

  private func isWanted(_ plan: BuildPlan, _ writer: any EngineWriter) throws -> Bool {
    guard state.withLock({ $0.engine != nil }) else {
      throw StoreError(.interrupted, "The operation was cancelled")
    }
    guard try writer.collections().contains(where: { $0.name.isSame(as: plan.collection) }) else {
      return false
    }
    let there = try writer.indexes(in: plan.collection)
    return !plan.candidates.allSatisfy { candidate in
      there.contains { candidate.isServed(by: $0) }
    }
  }

  private func began(_ plan: BuildPlan, _ interruption: Interruption) {
    let build = RunningBuild(
      interruption: interruption, end: .now + .seconds(plan.seconds),
      givesWay: plan.attempts < Self.maximumAttempts)
    let isStopped = state.withLock { state in
      state.build = build
      return state.engine == nil
    }
    if isStopped { interruption.trigger() }
    // Those that waited before it began.
    if observer.withLock({ $0 })?.waiting.load(ordering: .relaxed) ?? 0 > 0 { writerWaits() }
  }

  /// A writer of this process waits. An index that is soon done is not given up.
  func writerWaits() {
    guard let build = state.withLock({ $0.build }), build.givesWay,
      build.end - .now > Self.patience
    else { return }
    DispatchQueue.global(qos: .userInitiated).asyncAfter(
      deadline: .now() + Self.patience.inSeconds
    ) { [weak self] in
      let running = self?.state.withLock { $0.build?.interruption }
      if running === build.interruption { build.interruption.trigger() }
    }
  }

  /// Tries again at a quiet moment.
  private func giveWay(_ plan: BuildPlan) {
    guard state.withLock({ $0.engine }) != nil else { return }
    logger.debug("index gave way to a writer", metadata: metadata(plan))
    var plan = plan
    plan.attempts += 1
    state.withLock { $0.ledger.collections[ExactName(plan.collection)]?.gaveWay(plan) }
    // Steps disturb nobody, and need no quiet.
    if plan.index.kind == .elements { return schedule { [plan] in self.build(plan) } }
    waitForQuiet(plan, commits: -1, pauses: 0)
  }

  private func waitForQuiet(_ plan: BuildPlan, commits: Int, pauses: Int) {
    schedule(after: Self.pause) { [plan] in
      let now = self.observer.withLock { $0 }?.commits.load(ordering: .relaxed) ?? 0
      let longest = plan.seconds / Double(Self.maximumAttempts)
      guard now == commits || Double(pauses) * Self.pause >= longest else {
        return self.waitForQuiet(plan, commits: now, pauses: pauses + 1)
      }
      self.build(plan)
    }
  }
}

extension IndexTuner {
  /// An index on elements is kept from its beginning on, and filled by and by, beside writers.
  private func makeInSteps(_ plan: BuildPlan, _ engine: any Engine) throws -> Made? {
    let begun = try engine.write(nil) { writer -> Bool? in
      guard try isWanted(plan, writer) else { return nil }
      return try writer.beginIndex(plan.index, in: plan.collection)
    }
    guard let begun else { return nil }
    let seconds = begun ? 0 : try fill(plan.index.name, plan.collection, engine)
    return Made(seconds: seconds)
  }

  /// Seconds that it took.
  private func fill(_ index: String, _ collection: String, _ engine: any Engine) throws -> Double {
    var total = 0.0
    var documents = Self.firstStep
    while true {
      guard state.withLock({ $0.engine != nil }) else {
        throw StoreError(.interrupted, "The operation was cancelled")
      }
      let (isComplete, seconds) = try engine.write(nil) { writer in
        let start = ThreadCPUClock.seconds
        let isComplete = try writer.continueIndex(index, in: collection, documents: documents)
        return (isComplete, ThreadCPUClock.seconds - start)
      }
      total += seconds
      if isComplete { return total }
      let ratio = min(max(Self.step / max(seconds, 1e-6), 0.25), 4)
      documents = max(64, Int(Double(documents) * ratio))
      // The lock is not fair: whoever waits would wait for all steps.
      if observer.withLock({ $0 })?.waiting.load(ordering: .relaxed) ?? 0 > 0 {
        Thread.sleep(forTimeInterval: 0.002)
      }
    }
  }

  /// Goes on with an index that an earlier run began.
  func goOn(_ begun: PendingIndex) {
    guard let engine = state.withLock({ $0.engine }) else { return }
    do {
      let seconds = try fill(begun.index.name, begun.collection, engine)
      let candidate = IndexCandidate(
        kind: .elements, equalities: begun.index.columns.map(\.path))
      let plan = BuildPlan(
        collection: begun.collection, index: begun.index, candidates: [candidate], seconds: 0)
      logger.info("index made", metadata: metadata(plan, seconds: seconds))
      settle(plan) { $0.made(plan, seconds: seconds, documents: nil) }
    } catch let error as StoreError where [.interrupted, .locked].contains(error.code) {
      // It is still begun, and the next run goes on.
    } catch {
      log(error, "An index cannot be made", collection: begun.collection)
    }
  }
}

extension IndexTuner {
  func drop(_ plan: DropPlan) {
    do {
      try perform(plan)
    } catch {
      abandon(.drop(plan))
      log(error, "An index cannot be dropped", collection: plan.collection)
    }
  }

  /// - Throws: What kept the index from being dropped; the plan is still pending.
  func perform(_ plan: DropPlan) throws {
    guard let engine = state.withLock({ $0.engine }) else { return }
    let isGone = try engine.write(nil) { writer -> Bool in
      let known = try writer.indexes(in: plan.collection).first { $0.name.isSame(as: plan.index) }
      // A declared one is not ours to drop.
      guard known?.origin == .adaptive else { return false }
      return try writer.dropIndex(plan.index, in: plan.collection)
    }
    state.withLock { state in
      if isGone {
        state.ledger.collections[ExactName(plan.collection)]?.dropped(plan.index)
      } else {
        state.ledger.collections[ExactName(plan.collection)]?.forget(plan.index)
      }
      state.changed.insert(ExactName(plan.collection))
    }
    if isGone {
      logger.info(
        "index dropped",
        metadata: [
          "collection": "\(plan.collection)", "index": "\(plan.index)",
          "reason": "\(plan.reason)",
        ])
    }
    saveNow()
  }

  /// Nothing came of a decision; it may be taken again.
  func abandon(_ decision: TuningDecision) {
    state.withLock { state in
      switch decision {
      case .build(let plan): state.ledger.collections[ExactName(plan.collection)]?.abandoned(plan)
      case .drop(let plan):
        state.ledger.collections[ExactName(plan.collection)]?.built[ExactName(plan.index)]?
          .isPending = false
      }
    }
  }

  private func settle(_ plan: BuildPlan, _ change: (inout CollectionCostModel) -> Void) {
    state.withLock { state in
      change(&state.ledger.collections[ExactName(plan.collection), default: CollectionCostModel()])
      state.changed.insert(ExactName(plan.collection))
    }
    saveNow()
  }

  private func metadata(_ plan: BuildPlan, seconds: Double? = nil) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      "collection": "\(plan.collection)", "index": "\(plan.index.name)",
      "reason": "\(plan.index.reason ?? "")",
    ]
    if let seconds { metadata["took"] = "\(seconds.milliseconds)" }
    return metadata
  }
}

extension IndexDefinition {
  /// Whether this index serves whatever the other one does, which nobody declared.
  fileprivate func supersedes(_ other: IndexDefinition) -> Bool {
    other.origin == .adaptive && !other.name.isSame(as: name) && other.kind == kind
      && !other.isUnique
      && columns.starts(with: other.columns)
  }
}

extension Duration {
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
