// SPDX-License-Identifier: MIT

import NanoDocument

/// The definitions, the metadata, and the state of adaptive indexing.
extension CheckedReader {
  func collections() throws -> [CollectionDescription] {
    try checked { $0.requireSorted(try base.collections(), by: \.name.foldingASCII) }
  }

  func identity(of collection: String) throws -> CollectionIdentity {
    try checked { _ in try base.identity(of: collection) }
  }

  func indexes(in collection: String) throws -> [IndexDefinition] {
    try checked { $0.requireSorted(try base.indexes(in: collection), by: \.name) }
  }

  func fullTextIndexes(in collection: String) throws -> [FullTextIndexDefinition] {
    try checked { $0.requireSorted(try base.fullTextIndexes(in: collection), by: \.name) }
  }

  func indexing(in collection: String) throws -> IndexingPolicy {
    try checked { _ in try base.indexing(in: collection) }
  }

  func types(in collection: String) throws -> [String] {
    try checked { $0.requireSorted(try base.types(in: collection), by: \.self) }
  }

  func settings(of collection: String) throws -> CollectionSettings {
    try checked { _ in try base.settings(of: collection) }
  }

  func observedPaths(in collection: String) throws -> [ObservedPath] {
    try checked { $0.requireSorted(try base.observedPaths(in: collection), by: \.path) }
  }

  func metadata(_ name: String) throws -> DocumentValue? {
    try checked { _ in try base.metadata(name) }
  }

  func metadataNames() throws -> [String] {
    try checked { $0.requireSorted(try base.metadataNames(), by: \.self) }
  }

  func unfinishedIndexes() throws -> [PendingIndex] {
    try checked { _ in try base.unfinishedIndexes() }
  }

  func indexCostRecords() throws -> [IndexCostRecord] {
    try checked { _ in try base.indexCostRecords() }
  }
}
