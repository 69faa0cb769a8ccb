// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// What queries cost for want of an index, what indexes cost, and what follows from both.
///
/// A value that touches nothing: ``IndexTuner`` feeds it and does what it decides. All times are seconds of processor time.
struct IndexCostModel: Equatable {
  var collections: [ExactName: CollectionCostModel] = [:]

  /// Charges a scan to the indexes that would have saved it.
  mutating func charge(_ report: ScanReport) {
    collections[ExactName(report.collection), default: CollectionCostModel()].charge(report)
  }

  /// Charges writes to the indexes that are there, and takes them from what missing ones would save.
  mutating func wrote(_ collection: String, _ count: Int, commits: Int) {
    collections[ExactName(collection)]?.wrote(count, commits: commits)
  }

  mutating func used(_ collection: String, _ index: String, _ count: Int) {
    collections[ExactName(collection), default: CollectionCostModel()].used(index, count)
  }

  /// What is to be done now. Each is told once, until it is said what came of it.
  mutating func takeDue(_ collection: String) -> [TuningDecision] {
    collections[ExactName(collection)]?.takeDue(collection) ?? []
  }
}

/// What the ledger wants done.
enum TuningDecision: Equatable {
  case build(BuildPlan)
  case drop(DropPlan)
}

/// An index to be made.
struct BuildPlan: Equatable {
  var collection: String
  var index: IndexDefinition
  /// What it serves of what was charged.
  var candidates: [IndexCandidate]
  /// What building is estimated to take.
  var seconds: Double
  /// The part of a condition that it answers, where that finds more than the query did.
  var probe: Condition?
  /// How often building it gave way to writers.
  var attempts = 0
}

/// An adaptive index to be dropped.
struct DropPlan: Equatable {
  var collection: String
  var index: String
  var reason: String
}

/// An index that was not declared, and is there.
struct BuiltIndex: Equatable {
  var candidates: [IndexCandidate]
  /// What building took.
  var cost: Double
  /// What writes paid for it since queries used it.
  var debit = 0.0
  /// Queries that did without it since one used it.
  var missed = 0
  var isPending = false
}

/// A missing index.
struct IndexAccount: Equatable {
  /// What it would have saved.
  var charge = 0.0
  /// Queries that it would have served.
  var scans = 0
  /// How often it was there and was dropped.
  var drops = 0
  /// How often it was found to serve badly.
  var refusals = 0
  /// How often building it gave way to writers.
  var attempts = 0
  /// Whether it is being built.
  var isPending = false
  var probe: Condition?

  /// How many times its cost it must have been worth: one that was dropped or refused before has to show
  /// more, so that workloads in turn do not have it made and dropped for ever.
  var hurdle: Double { Double(1 << min(drops + 2 * refusals, Self.highestHurdle)) }
  /// Arbitrary: 64 times the cost.
  private static let highestHurdle = 6
}
