// SPDX-License-Identifier: MIT

import Dispatch
package import NanoDocument
public import NanoEngine
import NanoQuery

/// What the store would do about an index, and why.
public struct IndexAdvice: Sendable, Hashable {
  public enum Action: String, Sendable, Hashable { case make, drop }

  public var action: Action
  public var collection: String
  public var index: IndexDefinition
  /// What queries spent that the index would have saved; for one to be dropped, what writes paid for it
  /// since a query used it.
  public var spent: Duration
  /// What making it is estimated to take, or took.
  public var cost: Duration
  /// Whether it pays: in the mode ``IndexTuning/automatic`` the store has done it or is about to.
  public var isDue: Bool
  /// The same as a sentence.
  public var reason: String
}

extension Store {
  /// What the store does about indexes that nobody declared.
  public var indexTuning: IndexTuning { tuner?.mode ?? .off }

  /// The indexes that queries missed so far, and those that only cost, the most worthwhile first.
  ///
  /// ```swift
  /// for advice in try store.indexAdvice() where advice.isDue { print(advice.index.name, advice.reason) }
  /// ```
  ///
  /// What is not due may become so. A store opened with ``IndexTuning/off`` gives what earlier runs on the
  /// same file found out.
  public func indexAdvice() throws -> [IndexAdvice] {
    let tuner = try readyTuner()
    tuner.noteUses()
    return tuner.state.withLock { $0.ledger.advice }
  }
  public func indexAdvice() async throws -> [IndexAdvice] {
    try await scheduler.run { try self.indexAdvice() }
  }

  /// Makes and drops what is due, and says what was made. The indexes are the store's own: with
  /// ``IndexTuning/automatic`` it drops them again when they no longer pay.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside of a read or write block,
  ///   ``StoreError/Code/readOnly``, ``StoreError/Code/full`` and others. What was made before stays.
  @discardableResult
  public func applyIndexAdvice() throws -> [IndexDefinition] {
    try requireNoTransaction()
    let tuner = try readyTuner()
    tuner.noteUses()
    let decisions = tuner.state.withLock { state in
      state.ledger.collections.keys.sorted().flatMap { state.ledger.takeDue($0.text) }
    }
    var made: [IndexDefinition] = []
    for (number, decision) in decisions.enumerated() {
      do {
        switch decision {
        case .drop(let plan): try tuner.perform(plan)
        case .build(var plan):
          // Who asks for it wants it now, and does not give way.
          plan.attempts = IndexTuner.maximumAttempts
          try tuner.perform(plan)
          made += try self[plan.collection].indexes().filter { $0.isSame(as: plan.index) }
        }
      } catch {
        for rest in decisions[number...] { tuner.abandon(rest) }
        throw error
      }
    }
    return made
  }
  @discardableResult
  public func applyIndexAdvice() async throws -> [IndexDefinition] {
    try await scheduler.run { try self.applyIndexAdvice() }
  }

  /// Waits until the indexes that were decided on are made or dropped, as tests and measurements want.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside of a read or write block, for whose end an index may
  ///   have to wait.
  public func finishIndexTuning() throws {
    try requireNoTransaction()
    let done = DispatchSemaphore(value: 0)
    guard let tuner else { return }
    tuner.whenDone { done.signal() }
    done.wait()
  }
  public func finishIndexTuning() async throws {
    try requireNoTransaction()
    guard let tuner else { return }
    await withCheckedContinuation { continuation in tuner.whenDone { continuation.resume() } }
  }

  /// How often each index of a collection was used, by name, as far as it was counted. Indexes whose names
  /// differ in their Unicode form alone are one key of a dictionary: their uses are added up.
  public func indexUses(in collection: String) throws -> [String: Int] {
    Dictionary(
      try exactIndexUses(in: collection).map { ($0.key.text, $0.value) }, uniquingKeysWith: +)
  }

  /// How often each index of a collection was used, by its exact name.
  package func exactIndexUses(in collection: String) throws -> [ExactName: Int] {
    let tuner = try readyTuner()
    tuner.noteUses()
    return tuner.state.withLock { state in
      state.ledger.collections.first { $0.key.text.folded == collection.folded }?.value.uses
        ?? [:]
    }
  }
  public func indexUses(in collection: String) async throws -> [String: Int] {
    try await scheduler.run { try self.indexUses(in: collection) }
  }

  /// The tuner with what the file knows; one of its own for a store that has none.
  private func readyTuner() throws -> IndexTuner {
    let engine = try engine()
    let tuner = self.tuner ?? IndexTuner(.manual, tuningLogger)
    if self.tuner == nil { tuner.start(engine) }
    if !tuner.state.withLock({ $0.isLoaded }) {
      // On this thread, so that an error is told.
      let rows = try reading(.call) { try $0.indexLedger() }
      tuner.state.withLock { state in
        guard !state.isLoaded else { return }
        var ledger = IndexCostModel(rows: rows)
        ledger.add(state.ledger)
        state.ledger = ledger
        state.isLoaded = true
      }
    }
    return tuner
  }
}

extension IndexCostModel {
  fileprivate var advice: [IndexAdvice] {
    let made = collections.flatMap { name, ledger in
      ledger.plans(name.text).map { plan in
        IndexAdvice(
          action: .make, collection: name.text, index: plan.index,
          spent: .estimated(ledger.charge(plan)), cost: .estimated(plan.seconds),
          isDue: ledger.isDue(plan), reason: plan.index.reason ?? "")
      }
    }
    let dropped = collections.flatMap { name, ledger in
      var copy = ledger
      return copy.takeDue(name.text).compactMap { decision -> IndexAdvice? in
        guard case .drop(let plan) = decision, let index = ledger.built[ExactName(plan.index)],
          var definition = index.candidates.max(by: { $0.width < $1.width })?.definition()
        else { return nil }
        definition.name = plan.index
        return IndexAdvice(
          action: .drop, collection: name.text, index: definition, spent: .estimated(index.debit),
          cost: .estimated(index.cost), isDue: true, reason: plan.reason)
      }
    }
    return (made + dropped).sorted {
      ($1.spent, ExactName($0.collection), ExactName($0.index.name))
        < ($0.spent, ExactName($1.collection), ExactName($1.index.name))
    }
  }
}

extension Duration {
  /// Seconds that were estimated, of which a duration takes no more than it can hold.
  fileprivate static func estimated(_ seconds: Double) -> Duration {
    .seconds(seconds.isNaN ? 0 : min(max(seconds, 0), 1e15))
  }
}
