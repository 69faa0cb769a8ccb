// SPDX-License-Identifier: MIT

import NanoDocument

/// How a store manages adaptive indexes. docs/INDEXING.md describes the algorithm.
public enum IndexTuning: String, Sendable, Hashable, CaseIterable {
  /// Creates the indexes that pay off for the queries being executed, and drops them when they no longer do.
  case automatic
  /// Determines the same changes, but leaves it to the caller to apply them.
  case manual
  /// Observes nothing.
  case off
}

/// An index that is being built.
package struct PendingIndex: Sendable, Hashable {
  package var collection: String {
    get { exactCollection.text }
    set { exactCollection = ExactName(newValue) }
  }
  private var exactCollection: ExactName
  package var index: IndexDefinition
  package init(collection: String, index: IndexDefinition) {
    exactCollection = ExactName(collection)
    self.index = index
  }
}

/// A record that the store layer keeps about one possible index; engines do not interpret it.
package struct IndexCostRecord: Sendable, Hashable {
  package var collection: String {
    get { exactCollection.text }
    set { exactCollection = ExactName(newValue) }
  }
  private var exactCollection: ExactName
  /// What the record is about, unique within its collection.
  package var subject: String {
    get { exactSubject.text }
    set { exactSubject = ExactName(newValue) }
  }
  private var exactSubject: ExactName
  /// The record's content, a JSON object.
  package var state: String
  package init(collection: String, subject: String, state: String) {
    exactCollection = ExactName(collection)
    exactSubject = ExactName(subject)
    self.state = state
  }
}

/// The defaults for engines that build every index in one step and keep no index records.
extension EngineReader {
  package func unfinishedIndexes() throws -> [PendingIndex] { [] }
  package func indexCostRecords() throws -> [IndexCostRecord] { [] }
}

extension EngineWriter {
  package func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool {
    try createIndex(index, in: collection)
    return true
  }
  package func continueIndex(
    _ name: String, in collection: String, documents: Int
  ) throws -> Bool { true }
  package func setIndexCostRecords(_ rows: [IndexCostRecord], of collection: String) throws {}
}
