// SPDX-License-Identifier: MIT

import Dispatch
package import NanoDocument
public import NanoEngine
import NanoQuery

/// A recommendation to create or drop an index, with its justification.
public struct IndexAdvice: Sendable, Hashable {
  /// A recommended action.
  public enum Action: String, Sendable, Hashable {
    /// Create the index.
    case make
    /// Drop the index.
    case drop
  }

  /// The recommended action.
  public var action: Action
  /// The name of the collection.
  public var collection: String
  /// The index to create or drop.
  public var index: IndexDefinition
  /// For an index to create, the query time that it would have saved; for one to drop, what writes
  /// have paid for it since a query last used it.
  public var spent: Duration
  /// The estimated or measured cost of building it.
  public var cost: Duration
  /// Whether the action pays off: with ``IndexTuning/automatic``, the store has taken it or is
  /// about to.
  public var isDue: Bool
  /// The justification as a sentence.
  public var reason: String
}

extension Store {
  /// The policy for automatic indexes; ``IndexTuning/off`` where the configured one does not apply.
  public var indexTuning: IndexTuning { tuner?.mode ?? .off }

  /// Returns recommendations for indexes, the most worthwhile first.
  ///
  /// They concern indexes that queries have been missing, and adaptive indexes that no longer pay
  /// off.
  ///
  /// ```swift
  /// for advice in try store.indexAdvice() where advice.isDue { print(advice.index.name, advice.reason) }
  /// ```
  ///
  /// Advice that is not due yet may become so. A store opened with ``IndexTuning/off`` returns what
  /// earlier runs on the same file recorded.
  public func indexAdvice() throws -> [IndexAdvice] {
    let tuner = try readyTuner()
    tuner.noteUses()
    return tuner.state.withLock { $0.model.advice }
  }
  /// The asynchronous form of `indexAdvice()`, which does not block the calling thread.
  public func indexAdvice() async throws -> [IndexAdvice] {
    try await scheduler.run { try self.indexAdvice() }
  }

  /// Carries out the advice that is due, and returns the created indexes.
  ///
  /// The indexes are adaptive: with ``IndexTuning/automatic``, they are dropped again when they no
  /// longer pay off.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a read or write block,
  ///   ``StoreError/Code/readOnly``, ``StoreError/Code/full`` and others. Indexes created before
  ///   the error are kept.
  @discardableResult
  public func applyIndexAdvice() throws -> [IndexDefinition] {
    try requireNoTransaction()
    let tuner = try readyTuner()
    tuner.noteUses()
    let decisions = tuner.state.withLock { state in
      state.model.collections.keys.sorted().flatMap { state.model.takeDue($0.text) }
    }
    var made: [IndexDefinition] = []
    for (number, decision) in decisions.enumerated() {
      do {
        switch decision {
        case .drop(let plan): try tuner.perform(plan)
        case .build(var plan):
          // An explicit request is not interrupted for writers.
          plan.attempts = IndexTuner.maximumAttempts
          try tuner.perform(plan)
          made += try readingStored { try $0.indexes(in: plan.collection) }
            .filter { $0.hasSameEntries(as: plan.index) }
        }
      } catch {
        for rest in decisions[number...] { tuner.abandon(rest) }
        throw error
      }
    }
    return made
  }
  /// The asynchronous form of `applyIndexAdvice()`, which does not block the calling thread.
  @discardableResult
  public func applyIndexAdvice() async throws -> [IndexDefinition] {
    try await scheduler.run { try self.applyIndexAdvice() }
  }

  /// Waits until all index decisions have been carried out, for tests and measurements.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a read or write block, whose end a build
  ///   may have to wait for.
  public func finishIndexTuning() throws {
    try requireNoTransaction()
    let done = DispatchSemaphore(value: 0)
    guard let tuner else { return }
    tuner.onIdle { done.signal() }
    done.wait()
  }
  /// The asynchronous form of `finishIndexTuning()`, which does not block the calling thread.
  public func finishIndexTuning() async throws {
    try requireNoTransaction()
    guard let tuner else { return }
    await withCheckedContinuation { continuation in tuner.onIdle { continuation.resume() } }
  }

  /// Returns the recorded number of uses of each index of a collection, by name. No uses are recorded in encrypted
  /// collections.
  ///
  /// Names that are canonically equivalent share a dictionary key; their uses are added.
  public func indexUses(in collection: String) throws -> [String: Int] {
    Dictionary(
      try exactIndexUses(in: collection).map { ($0.key.text, $0.value) }, uniquingKeysWith: +)
  }

  /// Returns the recorded number of uses of each index of a collection, by exact name.
  package func exactIndexUses(in collection: String) throws -> [ExactName: Int] {
    let tuner = try readyTuner()
    tuner.noteUses()
    let uses = tuner.state.withLock { state in
      state.model.collections.first { $0.key.text.folded == collection.folded }?.value.uses
        ?? [:]
    }
    // The indexes of an encrypted collection have other names in the engine, which observes the queries.
    let names = try Set(self[collection].indexes().map { ExactName($0.name) })
    return uses.filter { names.contains($0.key) }
  }
  /// The asynchronous form of `indexUses(in:)`, which does not block the calling thread.
  public func indexUses(in collection: String) async throws -> [String: Int] {
    try await scheduler.run { try self.indexUses(in: collection) }
  }

  /// Returns the tuner with the stored model loaded; a temporary one for a store that has none, which
  /// builds nothing on its own.
  private func readyTuner() throws -> IndexTuner {
    let engine = try engine()
    // On this thread, so that an error is thrown to the caller; without buffered documents, which may be rejected.
    if let tuner {
      if !tuner.state.withLock({ $0.isLoaded }) {
        tuner.resume(try readingStored { try StoredTuning($0) })
      }
      return tuner
    }
    let temporary = IndexTuner(.manual, logger)
    temporary.start(engine)
    let records = try readingStored { try $0.indexCostRecords() }
    _ = temporary.state.withLock { $0.load(records) }
    return temporary
  }
}

extension IndexCostModel {
  fileprivate var advice: [IndexAdvice] {
    let made = collections.flatMap { name, model in
      model.plans(name.text).map { plan in
        IndexAdvice(
          action: .make, collection: name.text, index: plan.index,
          spent: .estimated(model.charge(plan)), cost: .estimated(plan.seconds),
          isDue: model.isDue(plan), reason: plan.index.reason ?? "")
      }
    }
    let dropped = collections.flatMap { name, model in
      var copy = model
      return copy.takeDue(name.text).compactMap { decision -> IndexAdvice? in
        guard case .drop(let plan) = decision, let index = model.built[ExactName(plan.index)],
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
  /// Converts an estimated number of seconds, limited to what a duration can represent.
  fileprivate static func estimated(_ seconds: Double) -> Duration {
    .seconds(seconds.isNaN ? 0 : min(max(seconds, 0), 1e15))
  }
}
