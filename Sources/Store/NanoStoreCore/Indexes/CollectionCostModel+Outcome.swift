// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

// Updates the cost model with the outcome of decisions.
extension CollectionCostModel {
  /// Records that an index was built.
  ///
  /// - Parameters:
  ///   - plan: The plan that was carried out.
  ///   - seconds: The processor time that it took.
  ///   - documents: The number of documents; nil if they were not counted.
  ///   - superseded: Adaptive indexes that were dropped because the new index serves the same
  ///     queries.
  mutating func made(
    _ plan: BuildPlan, seconds: Double, documents: Int?, superseded: [String] = []
  ) {
    if let documents { self.documents = documents }
    settle(plan.candidates) {
      $0.charge = 0
      $0.scans = 0
      $0.attempts = 0
    }
    var candidates = plan.candidates
    for name in superseded {
      candidates += built.removeValue(forKey: ExactName(name))?.candidates ?? []
    }
    built[ExactName(plan.index.name)] = BuiltIndex(candidates: candidates, cost: seconds)
    correct(plan, seconds)
  }

  /// Averages the correction with the newest measurement, and changes it by a factor of three at
  /// most: the machine may have been busy with other work.
  private mutating func correct(_ plan: BuildPlan, _ seconds: Double) {
    guard seconds > 0, plan.seconds > 0 else { return }
    let kind = plan.index.kind
    let before = corrections[kind] ?? Self.factor(kind)
    let measured = before * seconds / plan.seconds
    corrections[kind] = min(max((before + measured) / 2, before / 3), before * 3)
  }

  /// Records that the index already exists: another process built it, or one that was killed before
  /// it could record it.
  mutating func exists(_ plan: BuildPlan) {
    settle(plan.candidates) { $0.charge = 0 }
    if built[ExactName(plan.index.name)] == nil {
      built[ExactName(plan.index.name)] = BuiltIndex(
        candidates: plan.candidates, cost: plan.seconds)
    }
  }

  /// Records that a build was interrupted for a writer.
  mutating func noteInterruption(_ plan: BuildPlan) {
    for candidate in plan.candidates { accounts[candidate]?.attempts += 1 }
  }

  /// Records that an index would match too many documents to be useful, or cannot be built.
  mutating func refused(_ plan: BuildPlan) {
    settle(plan.candidates) {
      $0.charge = 0
      $0.refusals += 1
    }
  }

  /// Records that a decision was not carried out.
  mutating func abandoned(_ plan: BuildPlan) { settle(plan.candidates) { _ in } }

  private mutating func settle(
    _ candidates: [IndexCandidate], _ change: (inout IndexAccount) -> Void
  ) {
    for candidate in candidates {
      var account = accounts[candidate] ?? IndexAccount()
      account.isPending = false
      change(&account)
      accounts[candidate] = account
    }
  }

  mutating func dropped(_ index: String) {
    guard let gone = built.removeValue(forKey: ExactName(index)) else { return }
    settle(gone.candidates) {
      $0.charge = 0
      $0.drops += 1
    }
  }

  /// Forgets an index that is no longer adaptive.
  mutating func forget(_ index: String) { built[ExactName(index)] = nil }
}
