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
public struct PendingIndex: Sendable, Hashable {
  public var collection: String {
    get { exactCollection.text }
    set { exactCollection = ExactName(newValue) }
  }
  private var exactCollection: ExactName
  public var index: IndexDefinition
  public init(collection: String, index: IndexDefinition) {
    exactCollection = ExactName(collection)
    self.index = index
  }
}

/// What the store layer keeps of one possible index; engines do not look into it.
public struct IndexCostRecord: Sendable, Hashable {
  public var collection: String {
    get { exactCollection.text }
    set { exactCollection = ExactName(newValue) }
  }
  private var exactCollection: ExactName
  /// What the row is about, different for each row of a collection.
  public var subject: String {
    get { exactSubject.text }
    set { exactSubject = ExactName(newValue) }
  }
  private var exactSubject: ExactName
  /// A JSON object.
  public var state: String
  public init(collection: String, subject: String, state: String) {
    exactCollection = ExactName(collection)
    exactSubject = ExactName(subject)
    self.state = state
  }
}

/// What engines do that make every index in one step, and keep no ledger.
extension EngineReader {
  public func unfinishedIndexes() throws -> [PendingIndex] { [] }
  public func indexLedger() throws -> [IndexCostRecord] { [] }
}

extension EngineWriter {
  public func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool {
    try createIndex(index, in: collection)
    return true
  }
  public func continueIndex(
    _ name: String, in collection: String, documents: Int
  ) throws -> Bool { true }
  public func setIndexLedger(_ rows: [IndexCostRecord], of collection: String) throws {}
}
