// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// The index cost model of one collection, with its measurements.
struct CollectionCostModel: Equatable {
  /// The number of documents, as observed by scans.
  var documents = 0
  /// The scan cost per document.
  var scanCost = 0.0
  /// The ratio of measured to estimated build times.
  var corrections: [IndexDefinition.Kind: Double] = [:]
  var accounts: [IndexCandidate: IndexAccount] = [:]
  /// The existing adaptive indexes, by name.
  var built: [ExactName: BuiltIndex] = [:]
  /// The number of uses of each index, including declared ones.
  var uses: [ExactName: Int] = [:]
  /// The missing indexes charged since the last decisions; nil to consider all of them.
  private var touched: Set<IndexCandidate>?

  /// Scanning fewer documents takes less than half a millisecond, which no query would notice,
  /// while writes would still pay for the index.
  static let minimumDocuments = 1_000
  /// The minimum charge that justifies a decision, in seconds, however small the collection.
  /// Arbitrary: about what a person does not notice.
  static let minimumCharge = 0.01
  /// The maximum number of adaptive indexes in one collection. Arbitrary: each makes every write at
  /// least 50% more expensive.
  static let maximumIndexes = 8
  /// The maximum number of missing indexes tracked in one collection. Arbitrary: far more than may
  /// be built, and few enough to evaluate after each scan.
  static let maximumAccounts = 64
  /// The cost of a document found by an index, relative to a scanned document: each is looked up in
  /// the table individually. Measured: 0.6 to 1.2 microseconds against 0.16 to 0.34.
  static let lookUpFactor = 4.0
  /// The cost that sorting adds to a build for each document and each doubling of their number,
  /// relative to a scanned document: comparing two entries takes 15 nanoseconds against 280. A
  /// ratio, because slower machines are slower at both. The correction from measured builds refines
  /// it.
  static let comparisonFactor = 0.06
  /// The initial cost factor of a multi-valued index, which traverses each body with SQLite's own
  /// functions.
  private static let elementsFactor = 6.0

  /// Returns the initial cost factor of a kind of indexes.
  static func factor(_ kind: IndexDefinition.Kind) -> Double {
    switch kind {
    case .fields: 1
    case .elements: elementsFactor
    }
  }

  /// The share of an index's cost that scans must have cost before it is built.
  ///
  /// The ski-rental rule says 1, for a purchase that takes no time. Here queries may continue to
  /// scan during the build, for about as long as it takes. Half before and the full cost during the
  /// build is less than twice the cost of an optimal decision; a busy machine has the remaining
  /// margin.
  static let dueShare = 0.5
  /// The cost of an index per write, relative to building it per document: entries arrive in no
  /// order. Measured in large transactions: 1.3 to 1.8 microseconds against 0.6.
  static let writeFactor = 2.6
  /// The cost of an index page changed by a transaction, relative to a scanned document: it is
  /// logged, and later written to the file. Measured in small transactions: 20 to 40 microseconds.
  static let pageFactor = 100.0
  /// The approximate number of entries in a page.
  static let entriesPerPage = 100.0
  /// A single query does not predict the next one.
  static let minimumScans = 2
  /// An unused index is dropped when writes have paid this many times its build cost. Arbitrary:
  /// with less, a pause between queries would drop it; with more, writes would pay longer for
  /// nothing.
  static let dropFactor = 2.0
  /// The number of consecutive queries without an index after which it must have been dropped
  /// elsewhere. Arbitrary: more than may run concurrently.
  static let missesOfDropped = 16
  /// The share of its cost that a wider index must save by itself, beyond what a narrower one
  /// would, to replace it. Arbitrary: about what its wider entries cost.
  static let extensionShare = 0.2
}

extension CollectionCostModel {
  mutating func charge(_ report: ScanReport) {
    documents = max(documents, report.rows, report.matched)
    noteScan(report)
    let known = scanCost > 0 ? scanCost : report.seconds / Double(max(1, report.matched))
    let seconds =
      report.isRemoval ? min(report.seconds, Double(report.rows) * known) : report.seconds
    func saved(finding count: Int) -> Double {
      max(0, seconds - Double(count) * Self.lookUpFactor * known)
    }
    let condition = report.candidates.condition
    let byCondition = condition.isEmpty ? 0 : saved(finding: report.matched)
    for candidate in condition {
      add(candidate, byCondition / Double(condition.count)) {
        $0.probe = report.candidates.answered
      }
    }
    if let order = report.candidates.order {
      add(order, saved(finding: report.found) - byCondition)
    }
  }

  private mutating func noteScan(_ report: ScanReport) {
    guard report.rows > 0, !report.isRemoval else { return }
    let cost = report.seconds / Double(report.rows)
    // Recent scans have more weight: a machine is busy at times, and documents grow.
    scanCost = scanCost == 0 ? cost : scanCost * 0.8 + cost * 0.2
  }

  private mutating func add(
    _ candidate: IndexCandidate, _ seconds: Double,
    _ change: (inout IndexAccount) -> Void = { _ in }
  ) {
    guard seconds > 0 else { return }
    if let name = built.first(where: { $0.value.candidates.contains(candidate) })?.key {
      return missed(name)
    }
    var account = accounts[candidate] ?? IndexAccount()
    if accounts[candidate] == nil { makeRoom() }
    account.charge += seconds
    account.scans += 1
    change(&account)
    accounts[candidate] = account
    touched?.insert(candidate)
  }

  /// Removes the account with the smallest charge if the limit is reached.
  private mutating func makeRoom() {
    guard accounts.count >= Self.maximumAccounts else { return }
    let idle = accounts.filter { !$0.value.isPending }
    if let least = idle.min(by: { $0.value.charge < $1.value.charge }) {
      accounts[least.key] = nil
    }
  }

  /// Records a query that did not use an existing index: it started before the index was built, or
  /// the index was dropped elsewhere.
  private mutating func missed(_ index: ExactName) {
    let count = (built[index]?.missed ?? 0) + 1
    if count < Self.missesOfDropped { built[index]?.missed = count } else { dropped(index.text) }
  }

  mutating func wrote(_ count: Int, commits: Int) {
    for (candidate, account) in accounts {
      let cost = writeCost(candidate, count, commits)
      accounts[candidate]?.charge = max(0, account.charge - cost)
    }
    for (name, index) in built {
      guard let widest = index.candidates.max(by: { $0.width < $1.width }) else { continue }
      let cost = writeCost(widest, count, commits)
      built[name]?.debit += cost
    }
  }

  /// Records queries that each saved a scan.
  mutating func used(_ name: String, _ count: Int) {
    let index = ExactName(name)
    uses[index, default: 0] += count
    guard let debit = built[index]?.debit else { return }
    built[index]?.missed = 0
    built[index]?.debit = max(0, debit - Double(count) * Double(documents) * scanCost)
  }

  /// Returns the estimated cost of building an index.
  func buildCost(_ candidate: IndexCandidate) -> Double {
    let count = Double(max(documents, 2))
    let kind = candidate.kind
    let correction = corrections[kind] ?? Self.factor(kind)
    return count * scanCost * (1 + Self.comparisonFactor * log2(count)) * correction
  }

  /// Returns the cost of writes for an index whose entries arrive in no order: each transaction
  /// changes one page per document, or all pages.
  private func writeCost(_ candidate: IndexCandidate, _ count: Int, _ commits: Int) -> Double {
    let entries = Double(count) * buildCost(candidate) / Double(max(documents, 1))
    let pages = min(
      Double(count), Double(commits) * (Double(documents) / Self.entriesPerPage).rounded(.up))
    return entries * Self.writeFactor + pages * Self.pageFactor * scanCost
  }
}

extension CollectionCostModel {
  mutating func takeDue(_ collection: String) -> [TuningDecision] {
    dropsDue(collection) + buildsDue(collection)
  }

  private mutating func dropsDue(_ collection: String) -> [TuningDecision] {
    var decisions: [TuningDecision] = []
    for (name, index) in built.sorted(by: { $0.key < $1.key }) where !index.isPending {
      let hurdle = index.candidates.compactMap { accounts[$0]?.hurdle }.max() ?? 1
      guard index.debit > Self.dropFactor * hurdle * max(index.cost, Self.minimumCharge) else {
        continue
      }
      built[name]?.isPending = true
      let reason =
        "Writes paid about \(index.debit.milliseconds) for it since queries used it, and building it "
        + "took \(index.cost.milliseconds)."
      decisions.append(.drop(DropPlan(collection: collection, index: name.text, reason: reason)))
    }
    return decisions
  }

  private mutating func buildsDue(_ collection: String) -> [TuningDecision] {
    guard built.count + pendingBuilds < Self.maximumIndexes else { return [] }
    var decisions: [TuningDecision] = []
    let due = plans(collection, concerning: touched).filter(isDue)
    touched = []
    for plan in due {
      guard built.count + pendingBuilds < Self.maximumIndexes else { break }
      // An index decided just before may already serve it.
      guard plan.candidates.allSatisfy({ accounts[$0]?.isPending == false }) else { continue }
      for candidate in plan.candidates { accounts[candidate]?.isPending = true }
      decisions.append(.build(plan))
    }
    return decisions
  }

  private var pendingBuilds: Int { accounts.values.count { $0.isPending } }

  /// Implements the ski-rental rule: an index is built once scans have cost a share of its build
  /// cost, so that scans and build together cost at most about twice as much as an optimal
  /// decision.
  func isDue(_ plan: BuildPlan) -> Bool {
    let hurdle = plan.candidates.compactMap { accounts[$0]?.hurdle }.max() ?? 1
    let scans = plan.candidates.reduce(0) { $0 + (accounts[$1]?.scans ?? 0) }
    return documents >= Self.minimumDocuments && charge(plan) >= Self.minimumCharge
      && scans >= Self.minimumScans
      && charge(plan) > plan.seconds * Self.dueShare * hurdle
  }

  /// Returns what the index would have saved.
  func charge(_ plan: BuildPlan) -> Double {
    plan.candidates.reduce(0) { $0 + (accounts[$1]?.charge ?? 0) }
  }

  /// Returns plans for the missing indexes, the widest first: an index also serves what its
  /// prefixes serve, so one is built where two would do the same.
  ///
  /// - Parameter touched: Limits the result to indexes that could serve one of these; nil for all.
  func plans(
    _ collection: String, concerning touched: Set<IndexCandidate>? = nil
  ) -> [BuildPlan] {
    let open = accounts.filter { !$0.value.isPending && $0.value.charge > 0 }
    let order = open.sorted { one, other in
      if one.key.width != other.key.width { return one.key.width > other.key.width }
      if one.value.charge != other.value.charge { return one.value.charge > other.value.charge }
      return one.key.text.isBefore(other.key.text)
    }
    return order.compactMap { candidate, account in
      guard touched?.contains(where: candidate.mayServe) ?? true else { return nil }
      let cost = buildCost(candidate)
      var index = candidate.definition(leading: leading(candidate, open))
      let served = open.keys.filter { $0.isServed(by: index) }
      guard served.count == 1 || account.charge >= Self.extensionShare * cost else { return nil }
      let total = served.reduce(0) { $0 + (open[$1]?.charge ?? 0) }
      let scans = served.reduce(0) { $0 + (open[$1]?.scans ?? 0) }
      index.reason =
        "\(scans) \(scans == 1 ? "query" : "queries") over \(documents) documents spent "
        + "\(total.milliseconds) that it would have saved; building it was estimated at "
        + "\(cost.milliseconds)."
      return BuildPlan(
        collection: collection, index: index, candidates: served, seconds: cost,
        probe: served.count == 1 ? account.probe : nil, attempts: account.attempts)
    }
  }

  /// Returns the order of the fields compared for equality: first those that other queries filter
  /// by alone.
  private func leading(
    _ candidate: IndexCandidate, _ open: [IndexCandidate: IndexAccount]
  ) -> [FieldPath] {
    let parts = open.filter { other, _ in
      other.kind == candidate.kind && other.tail == .none
        && other.equalities.count < candidate.equalities.count
        && Set(other.equalities).isSubset(of: candidate.equalities)
    }.sorted { $0.value.charge > $1.value.charge }
    var first: [FieldPath] = []
    for (part, _) in parts where Set(first).isSubset(of: part.equalities) {
      first += part.equalities.filter { !first.contains($0) }
    }
    return first
  }
}

extension Double {
  /// A display text such as `128 ms`.
  var milliseconds: String {
    self < 0.01
      ? "\((self * 10_000).rounded() / 10) ms"
      : "\(Int(Swift.min(self * 1_000, 1e15).rounded())) ms"
  }
}
