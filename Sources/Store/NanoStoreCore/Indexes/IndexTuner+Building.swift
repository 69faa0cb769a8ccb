// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Logging
import NanoDocument
import NanoEngine
import NanoQuery

/// A build that runs as one statement, while every writer of this process waits.
struct RunningBuild {
  let interruption: Interruption
  /// The estimated end of the build.
  let end: ContinuousClock.Instant
  /// Whether it is interrupted for a waiting writer.
  let givesWay: Bool
}

extension IndexTuner {
  /// How long a writer waits for a build before the build is interrupted. Arbitrary: what a person
  /// does not notice.
  static let patience = Duration.milliseconds(50)
  /// The maximum number of interruptions of a build. With continuous writers it would otherwise
  /// never finish.
  static let maximumAttempts = 2
  /// Seconds between checks for a quiet period, which is one without commits. Arbitrary. Queries
  /// scan in the meantime, so all attempts together wait no longer than the estimated build time.
  private static let pause = 0.02
  /// The target duration in seconds of a step of a multi-valued index: less than `patience`, so
  /// that a writer never waits longer.
  private static let step = 0.02
  /// The number of documents in the first step. Arbitrary; later steps are sized by how long the
  /// previous one took.
  private static let firstStep = 256

  func build(_ plan: BuildPlan) {
    defer { withdraw(plan) }
    do {
      try perform(plan)
    } catch let error as StoreError where [.interrupted, .locked].contains(error.code) {
      retryWhenQuiet(plan)
    } catch {
      log(error, "An index cannot be created", collection: plan.collection)
      settle(plan) { $0.refused(plan) }
    }
  }

  /// - Throws: The error that prevented the build. The plan is still pending.
  func perform(_ plan: BuildPlan) throws {
    guard let engine = state.withLock({ $0.engine }) else { return }
    if let probe = plan.probe, try !pays(probe, plan, engine) {
      logger.debug("index would match too many documents", metadata: metadata(plan))
      settle(plan) { $0.refused(plan) }
    } else if let made = try make(plan, engine) {
      logger.info("index created", metadata: metadata(plan, seconds: made.seconds))
      settle(plan) {
        $0.made(
          plan, seconds: made.seconds, documents: made.documents, superseded: made.superseded)
      }
    } else {
      settle(plan) { $0.exists(plan) }
    }
  }

  /// Whether the index matches so few documents that looking them up is cheaper than a scan: the
  /// rest of the condition matches even fewer, but only after they are read.
  private func pays(_ answered: Condition, _ plan: BuildPlan, _ engine: any Engine) throws -> Bool {
    let (found, all) = try engine.read(.snapshot, nil) { reader in
      (
        try reader.count(Query(answered), in: plan.collection),
        try reader.count(Query(), in: plan.collection)
      )
    }
    return Double(found) * CollectionCostModel.lookUpFactor < Double(all)
  }

  private struct BuildResult {
    var seconds: Double
    var documents: Int?
    var superseded: [String] = []
  }

  /// Builds the index, or returns nil if it already exists or the collection was dropped.
  private func make(_ plan: BuildPlan, _ engine: any Engine) throws -> BuildResult? {
    // A build that was interrupted once, also in an earlier run, continues in steps.
    guard plan.index.kind == .elements, try plan.attempts > 0 || isBegun(plan, engine) else {
      return try buildInOneStatement(plan, engine)
    }
    return try buildIncrementally(plan, engine)
  }

  private func isBegun(_ plan: BuildPlan, _ engine: any Engine) throws -> Bool {
    try engine.read(.call, nil) { try $0.unfinishedIndexes() }.contains { begun in
      begun.collection.hasSameBytes(as: plan.collection)
        && begun.index.hasSameEntries(as: plan.index)
    }
  }

  /// Builds an index in one statement, the fastest way in SQLite. It is interrupted and rolled back
  /// if a writer waits.
  private func buildInOneStatement(_ plan: BuildPlan, _ engine: any Engine) throws -> BuildResult? {
    let interruption = Interruption()
    let made = try engine.write(interruption) { writer -> BuildResult? in
      guard try isNeeded(plan, writer) else { return nil }
      began(plan, interruption)
      defer { state.withLock { $0.build = nil } }
      let start = ThreadCPUClock.seconds
      try writer.createIndex(plan.index, in: plan.collection)
      var made = BuildResult(seconds: ThreadCPUClock.seconds - start)
      for old in try writer.indexes(in: plan.collection) where plan.index.supersedes(old) {
        if try writer.dropIndex(old.name, in: plan.collection) { made.superseded.append(old.name) }
      }
      return made
    }
    guard var made else { return nil }
    made.documents = try? engine.read(.call, nil) { try $0.count(Query(), in: plan.collection) }
    return made
  }

  private func isNeeded(_ plan: BuildPlan, _ writer: any EngineWriter) throws -> Bool {
    guard state.withLock({ $0.engine != nil }) else {
      throw StoreError(.interrupted, "The operation was canceled")
    }
    guard try writer.collections().contains(where: { $0.name.hasSameBytes(as: plan.collection) })
    else {
      return false
    }
    let existing = try writer.indexes(in: plan.collection)
    return !plan.candidates.allSatisfy { candidate in
      existing.contains { candidate.isServed(by: $0) }
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
    // Writers that were waiting before the build started.
    if observer.withLock({ $0 })?.waiting.load(ordering: .relaxed) ?? 0 > 0 { writerWaits() }
  }

  /// Handles a waiting writer of this process. A build that ends soon is not interrupted.
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

  /// Schedules another attempt for a quiet period.
  private func retryWhenQuiet(_ plan: BuildPlan) {
    guard state.withLock({ $0.engine }) != nil else { return }
    logger.debug("index build interrupted for a writer", metadata: metadata(plan))
    var plan = plan
    plan.attempts += 1
    state.withLock { $0.model.collections[ExactName(plan.collection)]?.noteInterruption(plan) }
    // Steps do not block writers noticeably, and need no quiet period.
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
  /// Builds a multi-valued index incrementally: it is maintained from the start, and filled in
  /// small transactions concurrently with writers.
  private func buildIncrementally(_ plan: BuildPlan, _ engine: any Engine) throws -> BuildResult? {
    let begun = try engine.write(nil) { writer -> Bool? in
      guard try isNeeded(plan, writer) else { return nil }
      return try writer.beginIndex(plan.index, in: plan.collection)
    }
    guard let begun else { return nil }
    let seconds = begun ? 0 : try fill(plan.index.name, plan.collection, engine)
    return BuildResult(seconds: seconds)
  }

  /// Fills the index and returns the seconds that it took.
  private func fill(_ index: String, _ collection: String, _ engine: any Engine) throws -> Double {
    var total = 0.0
    var documents = Self.firstStep
    while true {
      guard state.withLock({ $0.engine != nil }) else {
        throw StoreError(.interrupted, "The operation was canceled")
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
      // The lock is not fair: without a pause, waiting writers would wait for all steps.
      if observer.withLock({ $0 })?.waiting.load(ordering: .relaxed) ?? 0 > 0 {
        Thread.sleep(forTimeInterval: 0.002)
      }
    }
  }

  /// Continues an index that an earlier run started.
  func resumeBuild(_ begun: PendingIndex) {
    guard let engine = state.withLock({ $0.engine }) else { return }
    do {
      let seconds = try fill(begun.index.name, begun.collection, engine)
      let candidate = IndexCandidate(
        kind: .elements, equalities: begun.index.columns.map(\.path))
      let plan = BuildPlan(
        collection: begun.collection, index: begun.index, candidates: [candidate], seconds: 0)
      logger.info("index created", metadata: metadata(plan, seconds: seconds))
      settle(plan) { $0.made(plan, seconds: seconds, documents: nil) }
    } catch let error as StoreError where [.interrupted, .locked].contains(error.code) {
      // The index stays unfinished, and the next run continues it.
    } catch {
      log(error, "An index cannot be created", collection: begun.collection)
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

  /// - Throws: The error that prevented the drop. The plan is still pending.
  func perform(_ plan: DropPlan) throws {
    guard let engine = state.withLock({ $0.engine }) else { return }
    let isGone = try engine.write(nil) { writer -> Bool in
      let known = try writer.indexes(in: plan.collection).first {
        $0.name.hasSameBytes(as: plan.index)
      }
      // A declared index must not be dropped automatically.
      guard known?.origin == .adaptive else { return false }
      return try writer.dropIndex(plan.index, in: plan.collection)
    }
    state.withLock { state in
      if isGone {
        state.model.collections[ExactName(plan.collection)]?.dropped(plan.index)
      } else {
        state.model.collections[ExactName(plan.collection)]?.forget(plan.index)
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

  /// Records that a decision was not carried out; it may be made again.
  func abandon(_ decision: TuningDecision) {
    state.withLock { state in
      switch decision {
      case .build(let plan): state.model.collections[ExactName(plan.collection)]?.abandoned(plan)
      case .drop(let plan):
        state.model.collections[ExactName(plan.collection)]?.built[ExactName(plan.index)]?
          .isPending = false
      }
    }
  }

  private func settle(_ plan: BuildPlan, _ change: (inout CollectionCostModel) -> Void) {
    state.withLock { state in
      change(&state.model.collections[ExactName(plan.collection), default: CollectionCostModel()])
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
  /// Whether this index serves every query that the other one serves, and the other one is
  /// adaptive.
  fileprivate func supersedes(_ other: IndexDefinition) -> Bool {
    other.origin == .adaptive && !other.name.hasSameBytes(as: name) && other.kind == kind
      && !other.isUnique
      && columns.starts(with: other.columns)
  }
}
