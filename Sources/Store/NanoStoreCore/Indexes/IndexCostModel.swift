// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A model of what missing indexes cost queries and what existing indexes cost writes, which
/// decides what to build and drop.
///
/// A pure value: ``IndexTuner`` updates it and carries out its decisions. All times are seconds of
/// processor time.
struct IndexCostModel: Equatable {
  var collections: [ExactName: CollectionCostModel] = [:]

  /// Charges a scan to the indexes that would have avoided it.
  mutating func charge(_ report: ScanReport) {
    collections[ExactName(report.collection), default: CollectionCostModel()].charge(report)
  }

  /// Charges writes to the existing indexes, and subtracts them from what missing ones would save.
  mutating func wrote(_ collection: String, _ count: Int, commits: Int) {
    collections[ExactName(collection)]?.wrote(count, commits: commits)
  }

  mutating func used(_ collection: String, _ index: String, _ count: Int) {
    collections[ExactName(collection), default: CollectionCostModel()].used(index, count)
  }

  /// Returns the decisions that are due. Each is returned once, until its outcome is recorded.
  mutating func takeDue(_ collection: String) -> [TuningDecision] {
    collections[ExactName(collection)]?.takeDue(collection) ?? []
  }
}

/// A decision of the cost model.
enum TuningDecision: Equatable {
  case build(BuildPlan)
  case drop(DropPlan)
}

/// A plan to build an index.
struct BuildPlan: Equatable {
  var collection: String
  var index: IndexDefinition
  /// The missing indexes that it serves.
  var candidates: [IndexCandidate]
  /// The estimated cost of building it.
  var seconds: Double
  /// The part of a condition that the index serves, if it matches more than the whole condition
  /// did.
  var probe: Condition?
  /// The number of times that the build was interrupted for writers.
  var attempts = 0
}

/// A plan to drop an adaptive index.
struct DropPlan: Equatable {
  var collection: String
  var index: String
  var reason: String
}

/// An existing adaptive index.
struct BuiltIndex: Equatable {
  var candidates: [IndexCandidate]
  /// The measured cost of building it.
  var cost: Double
  /// What writes have paid for it since a query last used it.
  var debit = 0.0
  /// The number of queries without it since a query last used it.
  var missed = 0
  var isPending = false
}

/// The account of a missing index.
struct IndexAccount: Equatable {
  /// What the index would have saved.
  var charge = 0.0
  /// The number of queries that it would have served.
  var scans = 0
  /// The number of times that it was built and dropped.
  var drops = 0
  /// The number of times that it was found to be useless.
  var refusals = 0
  /// The number of times that its build was interrupted for writers.
  var attempts = 0
  /// Whether it is being built.
  var isPending = false
  var probe: Condition?

  /// The required savings as a multiple of its cost. It grows with each drop and refusal, so that
  /// alternating workloads do not have the index built and dropped forever.
  var hurdle: Double { Double(1 << min(drops + 2 * refusals, Self.highestHurdle)) }
  /// Arbitrary: 64 times the cost.
  private static let highestHurdle = 6
}
