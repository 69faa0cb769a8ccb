// SPDX-License-Identifier: MIT

import NanoDocument
package import Synchronization

/// A report of a query that scanned or sorted documents although an index could have served it.
package struct ScanReport: Sendable {
  package var collection: String
  /// The missing indexes.
  package var candidates: IndexCandidates
  /// The CPU time that the database used, in seconds, without the caller's processing of the documents.
  package var seconds: Double
  /// The number of documents scanned; 0 if an index found them and they were only sorted.
  package var rows: Int
  /// The number of documents that match the condition.
  package var matched: Int
  /// The number of documents returned.
  package var found: Int
  /// Whether the documents were also deleted, a cost that an index does not reduce.
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

/// Receives an engine's reports about the queries that it executes.
///
/// An engine without an observer measures nothing. An engine with one checks after each query whether documents
/// were scanned, calls ``scanned`` if there were many, and counts everything else.
package final class QueryObserver: Sendable {
  /// Called on the query's thread, possibly within its transaction: it must not use the engine.
  package let scanned: @Sendable (ScanReport) -> Void
  /// Called occasionally after a commit with the number of documents written to a collection since the last
  /// call, and the number of transactions.
  package let written: @Sendable (_ collection: String, _ count: Int, _ commits: Int) -> Void
  /// Called when a writer begins to wait for another writer of this engine.
  package let writerWaits: @Sendable () -> Void
  /// Called on the thread of a query that is about to scan, before the query has read anything, while
  /// ``isBuilding`` is set. It may wait for an index that is nearly complete. The `check` closure throws if the
  /// query has been interrupted.
  package let willScan:
    @Sendable (
      _ collection: String, _ candidates: IndexCandidates, _ check: () throws -> Void
    ) throws -> Void
  /// Whether an index is being built.
  package let isBuilding = Atomic(false)
  /// The minimum number of documents that a scan must read to be reported.
  package let minimumRows: Int
  /// The number of writers that are waiting now.
  package let waiting = Atomic(0)
  /// The number of committed transactions.
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

  /// Returns the use counter of an index.
  package func uses(of index: String, in collection: String) -> UseCount {
    uses.withLock { uses in
      let subject = Subject(collection: ExactName(collection), index: ExactName(index))
      if let existing = uses[subject] { return existing }
      let counter = UseCount()
      uses[subject] = counter
      return counter
    }
  }

  /// Returns the number of uses of each index since the last call, and resets the counters.
  package func takeUses() -> [(collection: String, index: String, count: Int)] {
    uses.withLock { uses in
      uses.compactMap { subject, use in
        let count = use.count.exchange(0, ordering: .relaxed)
        return count == 0 ? nil : (subject.collection.text, subject.index.text, count)
      }
    }
  }
}

/// Counts the uses of an index.
package final class UseCount: Sendable {
  package let count = Atomic(0)
  init() {}

  @inlinable
  package func add() { count.wrappingAdd(1, ordering: .relaxed) }
}
