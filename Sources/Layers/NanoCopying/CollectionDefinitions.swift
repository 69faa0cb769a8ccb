// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The declared indexes of a collection, and its indexing policy.
struct CollectionDefinitions {
  let indexes: [IndexDefinition]
  let fullTextIndexes: [FullTextIndexDefinition]
  let policy: IndexingPolicy

  init(of collection: String, _ reader: any EngineReader) throws {
    indexes = try reader.indexes(in: collection).filter { $0.origin == .declared }
    fullTextIndexes = try reader.fullTextIndexes(in: collection)
    policy = try reader.indexing(in: collection)
  }

  /// Metadata that belongs to one database and is not copied.
  static let ownNames: Set<ExactName> = [
    ExactName(CopyCheckpoint.name), ExactName(EncryptionMarker.name),
  ]

  /// A definition in a form that can be created in another store.
  enum Definition: Hashable {
    case index(IndexDefinition)
    case textIndex(FullTextIndexDefinition)
    case policy(IndexingPolicy)

    /// The value of ``CopyReport/OmittedDefinition/definition``.
    var name: String {
      switch self {
      case .index(let index): index.name
      case .textIndex(let index): index.name
      case .policy(let policy): policy.rawValue
      }
    }

    func make(_ writer: any EngineWriter, _ collection: String) throws {
      switch self {
      case .index(let index): try writer.createIndex(index, in: collection)
      case .textIndex(let index): try writer.createFullTextIndex(index, in: collection)
      case .policy(let policy):
        if try writer.indexing(in: collection) != policy {
          try writer.setIndexing(policy, in: collection, nil)
        }
      }
    }
  }

  /// All definitions. The policy is included only if it is not the default.
  var all: [Definition] {
    indexes.map { .index($0) } + fullTextIndexes.map { .textIndex($0) }
      + (policy == .declared ? [] : [.policy(policy)])
  }
}
