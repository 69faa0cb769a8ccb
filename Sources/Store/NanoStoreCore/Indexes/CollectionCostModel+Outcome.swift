// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// What came of decisions.
extension CollectionCostModel {
  /// - Parameters:
  ///   - documents: How many there are; nil if it was not counted.
  ///   - superseded: Adaptive indexes that went because this one serves what they did.
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

  /// Half of what the newest build says, and three times as much at most: the machine may have been busy
  /// with something else.
  private mutating func correct(_ plan: BuildPlan, _ seconds: Double) {
    guard seconds > 0, plan.seconds > 0 else { return }
    let kind = plan.index.kind
    let before = corrections[kind] ?? (kind == .elements ? Self.elementsFactor : 1)
    let measured = before * seconds / plan.seconds
    corrections[kind] = min(max((before + measured) / 2, before / 3), before * 3)
  }

  /// It is there: another process made it, or one that was killed before it could say so.
  mutating func exists(_ plan: BuildPlan) {
    settle(plan.candidates) { $0.charge = 0 }
    if built[ExactName(plan.index.name)] == nil {
      built[ExactName(plan.index.name)] = BuiltIndex(
        candidates: plan.candidates, cost: plan.seconds)
    }
  }

  /// It gave way to a writer.
  mutating func gaveWay(_ plan: BuildPlan) {
    for candidate in plan.candidates { accounts[candidate]?.attempts += 1 }
  }

  /// It finds so much that it would save nothing, or it cannot be made.
  mutating func refused(_ plan: BuildPlan) {
    settle(plan.candidates) {
      $0.charge = 0
      $0.refusals += 1
    }
  }

  /// Nothing came of it.
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

  /// It is no longer the store's own to drop.
  mutating func forget(_ index: String) { built[ExactName(index)] = nil }
}
