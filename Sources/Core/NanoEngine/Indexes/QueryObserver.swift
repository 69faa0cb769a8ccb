// SPDX-License-Identifier: MIT

import NanoDocument
package import Synchronization

/// A query that looked through documents, or sorted them, where an index could have served.
package struct ScanReport: Sendable {
  package var collection: String
  /// The indexes that are missing.
  package var candidates: IndexCandidates
  /// Seconds of processor time that the database took, without what the caller did with the documents.
  package var seconds: Double
  /// Documents that were looked at; 0 if an index found them and they were only sorted.
  package var rows: Int
  /// Documents that fulfil the condition.
  package var matched: Int
  /// Documents that were handed out.
  package var found: Int
  /// Whether they were removed as well, which an index does not make cheaper.
  package var isRemoval: Bool

  package init(
    collection: String, candidates: IndexCandidates, seconds: Double, rows: Int, matched: Int,
    found: Int, isRemoval: Bool = false
  ) {
    self.collection = collection
    self.candidates = candidates
    self.seconds = seconds
    self.rows = rows
    self.matched = matched
    self.found = found
    self.isRemoval = isRemoval
  }
}

/// What an engine tells whoever opened it about the queries that it runs.
///
/// An engine without one looks at nothing. With one it asks after each query whether documents were
/// looked through, and calls ``scanned`` if there were many; everything else is counted.
package final class QueryObserver: Sendable {
  /// Called on the thread of the query, whose transaction may still run: it must not use the engine.
  package let scanned: @Sendable (ScanReport) -> Void
  /// Called after a commit now and then with how many documents of a collection were written since, in
  /// how many transactions.
  package let written: @Sendable (_ collection: String, _ count: Int, _ commits: Int) -> Void
  /// Called when a writer begins to wait for another one of this engine.
  package let writerWaits: @Sendable () -> Void
  /// Called on the thread of a query that is about to scan, before it has seen anything, while
  /// ``isBuilding`` is set. It may wait for an index that is nearly there. The closure throws if the query was
  /// stopped meanwhile.
  package let willScan:
    @Sendable (
      _ collection: String, _ candidates: IndexCandidates, _ check: () throws -> Void
    ) throws -> Void
  /// Whether an index is being made.
  package let isBuilding = Atomic(false)
  /// Documents that a scan reads at least, to be told of.
  package let minimumRows: Int
  /// Writers that wait now.
  package let waiting = Atomic(0)
  /// Transactions that were committed.
  package let commits = Atomic(0)

  private struct Subject: Hashable {
    var collection: ExactName
    var index: ExactName
  }
  private let uses = Mutex<[Subject: UseCount]>([:])

  package init(
    minimumRows: Int, scanned: @escaping @Sendable (ScanReport) -> Void,
    written: @escaping @Sendable (_ collection: String, _ count: Int, _ commits: Int) -> Void,
    writerWaits: @escaping @Sendable () -> Void,
    willScan:
      @escaping @Sendable (
        _ collection: String, _ candidates: IndexCandidates, _ check: () throws -> Void
      ) throws -> Void = { _, _, _ in }
  ) {
    self.willScan = willScan
    self.minimumRows = minimumRows
    self.scanned = scanned
    self.written = written
    self.writerWaits = writerWaits
  }

  /// Where uses of an index are counted.
  package func uses(of index: String, in collection: String) -> UseCount {
    uses.withLock { uses in
      let subject = Subject(collection: ExactName(collection), index: ExactName(index))
      if let known = uses[subject] { return known }
      let made = UseCount()
      uses[subject] = made
      return made
    }
  }

  /// How often indexes were used since this was called last.
  package func takeUses() -> [(collection: String, index: String, count: Int)] {
    uses.withLock { uses in
      uses.compactMap { subject, use in
        let count = use.count.exchange(0, ordering: .relaxed)
        return count == 0 ? nil : (subject.collection.text, subject.index.text, count)
      }
    }
  }
}

/// Counts how often an index is used.
package final class UseCount: Sendable {
  package let count = Atomic(0)
  init() {}

  @inlinable
  package func add() { count.wrappingAdd(1, ordering: .relaxed) }
}
