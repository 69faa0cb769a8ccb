// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoDocument
import NanoEngine

extension IndexTuner {
  /// The longest time that a query waits for an index, as a multiple of its scan time: scanning
  /// would only compete with the build. Arbitrary.
  private static let scansToWait = 2.5
  /// The longest time that a query waits, in seconds, however long it would scan. Arbitrary: what a
  /// person just notices.
  private static let longestWait = 0.25
  /// Seconds between checks for whether the index exists.
  private static let pollInterval = 0.001

  /// Announces that an index is about to be built.
  func announce(_ plan: BuildPlan) { updateAnnounced { $0.append(plan) } }

  /// Withdraws an announcement: the index exists, or will not be built soon.
  func withdraw(_ plan: BuildPlan) {
    updateAnnounced { $0.removeAll { $0.buildsSameIndex(as: plan) } }
  }

  private func updateAnnounced(_ change: (inout [BuildPlan]) -> Void) {
    let isBuilding = state.withLock { state in
      change(&state.announced)
      return !state.announced.isEmpty
    }
    observer.withLock { $0 }?.isBuilding.store(isBuilding, ordering: .relaxed)
  }

  /// Makes a query wait for an index that would avoid its scan, if its build is nearly finished.
  ///
  /// - Throws: An error thrown by the closure.
  func wait(
    in collection: String, for candidates: IndexCandidates, check: () throws -> Void
  ) throws {
    // The build itself runs a query first, to check whether the index is useful.
    guard DispatchQueue.getSpecific(key: Self.onQueue) == nil,
      let plan = buildWorthAwaiting(collection, candidates)
    else { return }
    let end = ContinuousClock.now + .seconds(Self.longestWait)
    while ContinuousClock.now < end, isAnnounced(plan) {
      try check()
      Thread.sleep(forTimeInterval: Self.pollInterval)
    }
  }

  private func isAnnounced(_ plan: BuildPlan) -> Bool {
    state.withLock { $0.engine != nil && $0.announced.contains { $0.buildsSameIndex(as: plan) } }
  }

  private func buildWorthAwaiting(_ collection: String, _ candidates: IndexCandidates) -> BuildPlan?
  {
    state.withLock { state in
      guard let model = state.model.collections[ExactName(collection)],
        let position = state.announced.firstIndex(where: {
          $0.collection.hasSameBytes(as: collection) && $0.serves(candidates)
        })
      else { return nil }
      // The first build may be partly done; those after it have not started.
      var seconds = state.announced[...position].reduce(0) { $0 + $1.seconds }
      if let end = state.build?.end {
        seconds += (end - .now).inSeconds - state.announced[0].seconds
      }
      let scan = Double(model.documents) * model.scanCost
      return seconds < min(scan * Self.scansToWait, Self.longestWait)
        ? state.announced[position] : nil
    }
  }
}

extension BuildPlan {
  fileprivate func buildsSameIndex(as other: BuildPlan) -> Bool {
    collection.hasSameBytes(as: other.collection) && index.name.hasSameBytes(as: other.index.name)
  }

  fileprivate func serves(_ missing: IndexCandidates) -> Bool {
    missing.condition.isEmpty
      ? missing.order?.isServed(by: index) == true
      : missing.condition.allSatisfy { $0.isServed(by: index) }
  }
}
