// SPDX-License-Identifier: MIT

import NanoDocument

/// What a store does about indexes that nobody declared. docs/INDEXING.md says how it decides.
public enum IndexTuning: String, Sendable, Hashable, CaseIterable {
  /// Makes the indexes that pay for the queries that are asked, and drops those that do not any more.
  case automatic
  /// Finds out the same, and leaves it to somebody to apply it.
  case manual
  /// Looks at nothing.
  case off
}

/// An index that is being filled.
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

/// What the store layer keeps of one possible index; engines do not look into it.
package struct IndexCostRecord: Sendable, Hashable {
  package var collection: String {
    get { exactCollection.text }
    set { exactCollection = ExactName(newValue) }
  }
  private var exactCollection: ExactName
  /// What the row is about, different for each row of a collection.
  package var subject: String {
    get { exactSubject.text }
    set { exactSubject = ExactName(newValue) }
  }
  private var exactSubject: ExactName
  /// A JSON object.
  package var state: String
  package init(collection: String, subject: String, state: String) {
    exactCollection = ExactName(collection)
    exactSubject = ExactName(subject)
    self.state = state
  }
}

/// What engines do that make every index in one step, and keep no ledger.
extension EngineReader {
  package func unfinishedIndexes() throws -> [PendingIndex] { [] }
  package func indexLedger() throws -> [IndexCostRecord] { [] }
}

extension EngineWriter {
  package func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool {
    try createIndex(index, in: collection)
    return true
  }
  package func continueIndex(
    _ name: String, in collection: String, documents: Int
  ) throws -> Bool { true }
  package func setIndexLedger(_ rows: [IndexCostRecord], of collection: String) throws {}
}
