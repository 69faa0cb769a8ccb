// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// The ledger of one collection, and what was measured there.
struct CollectionCostModel: Equatable {
  /// How many documents there are, as far as scans have shown.
  var documents = 0
  /// What a scan costs for each document.
  var scanCost = 0.0
  /// What builds really took for what was estimated.
  var corrections: [IndexDefinition.Kind: Double] = [:]
  var accounts: [IndexCandidate: IndexAccount] = [:]
  /// The adaptive indexes that are there, by name.
  var built: [ExactName: BuiltIndex] = [:]
  /// How often indexes were used, declared ones too.
  var uses: [ExactName: Int] = [:]
  /// The missing indexes that were charged since decisions were taken last; nil if all are to be looked at.
  private var touched: Set<IndexCandidate>?

  /// A scan of fewer takes less than half a millisecond, which no query would notice, and writes would
  /// pay for the index all the same.
  static let minimumDocuments = 1_000
  /// Below this nothing is worth a decision, however small the collection: arbitrary, about what a person
  /// does not notice.
  static let minimumCharge = 0.01
  /// Adaptive indexes of one collection. Arbitrary: each makes every write dearer by half or more.
  static let maximumIndexes = 8
  /// Missing indexes that are kept account of in one collection. Arbitrary: far more than may be made, and
  /// few enough to be looked at after each scan.
  static let maximumAccounts = 64
  /// What a document costs that an index finds, in documents that a scan reads: it is looked up in the
  /// table by itself. Measured: 0.6 to 1.2 microseconds against 0.16 to 0.34.
  static let lookUpFactor = 4.0
  /// What sorting adds to building for each document and doubling of their number, in documents that a
  /// scan reads: a comparison of two entries, 15 nanoseconds against 280. In such parts, since it is as
  /// much slower on a slower machine. The ratio of builds that happened corrects it.
  static let comparisonFactor = 0.06
  /// An index on elements walks each body with SQLite's own functions: what it costs before one was built.
  static let elementsFactor = 6.0
  /// The share of its cost that scans must have cost before an index is made. The ski-rental rule says all
  /// of it, for a purchase that takes no time: here queries may go on to scan while the index is made, for
  /// about as long as making it takes. Half before and the whole meanwhile is less than twice what it had
  /// cost to know, and a machine that is busy has the rest.
  static let dueShare = 0.5
  /// What a write pays for an index, in parts of building it per document: entries come in no order.
  /// Measured in large transactions: 1.3 to 1.8 microseconds against 0.6.
  static let writeFactor = 2.6
  /// What a page of an index costs that a transaction changes, in documents that a scan reads: it is
  /// logged, and later written to the file. Measured in small transactions: 20 to 40 microseconds.
  static let pageFactor = 100.0
  /// Entries of a page, about.
  static let entriesPerPage = 100.0
  /// One query says nothing about a next one.
  static let minimumScans = 2
  /// An unused index goes when writes have paid for it so many times what building it took. Arbitrary; with
  /// less, a pause between queries would lose it, with more, writes would pay longer for nothing.
  static let dropFactor = 2.0
  /// Queries in a row that did without an index, after which somebody must have dropped it. Arbitrary: more
  /// than may run at once.
  static let missesOfDropped = 16
  /// The share of its cost that a longer index must save itself, beyond what a shorter one would, to be made
  /// in its place. Arbitrary: about what its longer entries cost.
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
    // The newest ones count more: a machine is busy at times, and documents grow.
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

  /// Forgets the account that matters least, if there are many.
  private mutating func makeRoom() {
    guard accounts.count >= Self.maximumAccounts else { return }
    let idle = accounts.filter { !$0.value.isPending }
    if let least = idle.min(by: { $0.value.charge < $1.value.charge }) {
      accounts[least.key] = nil
    }
  }

  /// A query did without an index that is there: it began before the index was made, or somebody has
  /// dropped it.
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

  /// Queries saved a scan each.
  mutating func used(_ name: String, _ count: Int) {
    let index = ExactName(name)
    uses[index, default: 0] += count
    guard let debit = built[index]?.debit else { return }
    built[index]?.missed = 0
    built[index]?.debit = max(0, debit - Double(count) * Double(documents) * scanCost)
  }

  /// What building an index is estimated to take.
  func buildCost(_ candidate: IndexCandidate) -> Double {
    let count = Double(max(documents, 2))
    let kind = candidate.kind
    let correction = corrections[kind] ?? (kind == .elements ? Self.elementsFactor : 1)
    return count * scanCost * (1 + Self.comparisonFactor * log2(count)) * correction
  }

  /// What writes pay for an index whose entries come in no order: each transaction changes a page for
  /// each document, or all of them.
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
      // One that was decided just now may serve it.
      guard plan.candidates.allSatisfy({ accounts[$0]?.isPending == false }) else { continue }
      for candidate in plan.candidates { accounts[candidate]?.isPending = true }
      decisions.append(.build(plan))
    }
    return decisions
  }

  private var pendingBuilds: Int { accounts.values.count { $0.isPending } }

  /// The ski-rental rule: an index is made once scans have cost so much of what building it does that
  /// scans and building together cost about twice as much at most as having known.
  func isDue(_ plan: BuildPlan) -> Bool {
    let hurdle = plan.candidates.compactMap { accounts[$0]?.hurdle }.max() ?? 1
    let scans = plan.candidates.reduce(0) { $0 + (accounts[$1]?.scans ?? 0) }
    return documents >= Self.minimumDocuments && charge(plan) >= Self.minimumCharge
      && scans >= Self.minimumScans
      && charge(plan) > plan.seconds * Self.dueShare * hurdle
  }

  /// What the index would have saved.
  func charge(_ plan: BuildPlan) -> Double {
    plan.candidates.reduce(0) { $0 + (accounts[$1]?.charge ?? 0) }
  }

  /// The missing indexes, the longest first: an index serves what its first fields serve, so that one is
  /// made where two would do the same.
  ///
  /// - Parameter touched: Only those that could serve one of these; nil for all.
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

  /// The order of the fields that are compared for equality: those first on which other queries ask alone.
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
  /// As a text for people: `128 ms`.
  var milliseconds: String {
    self < 0.01
      ? "\((self * 10_000).rounded() / 10) ms"
      : "\(Int(Swift.min(self * 1_000, 1e15).rounded())) ms"
  }
}
