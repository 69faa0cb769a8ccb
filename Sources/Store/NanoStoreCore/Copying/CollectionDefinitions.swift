// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The indexes of a collection that somebody wanted, and its policy.
struct CollectionDefinitions {
  let indexes: [IndexDefinition]
  let textIndexes: [FullTextIndexDefinition]
  let policy: IndexingPolicy

  init(of collection: String, _ reader: any EngineReader) throws {
    indexes = try reader.indexes(in: collection).filter { $0.origin == .declared }
    textIndexes = try reader.textIndexes(in: collection)
    policy = try reader.indexing(in: collection)
  }

  /// Metadata that belongs to a database and to no copy of it.
  static let ownNames: Set<ExactName> = [
    ExactName(CopyCheckpoint.name), ExactName(EncryptionMarker.name),
  ]

  /// One definition, in a form that can be made elsewhere.
  enum Definition: Hashable {
    case index(IndexDefinition)
    case textIndex(FullTextIndexDefinition)
    case policy(IndexingPolicy)

    /// As ``CopyReport/LeftOut/definition``.
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
      case .textIndex(let index): try writer.createTextIndex(index, in: collection)
      case .policy(let policy):
        if try writer.indexing(in: collection) != policy {
          try writer.setIndexing(policy, in: collection, nil)
        }
      }
    }
  }

  /// All of them; the policy only if it is not what every collection has.
  var all: [Definition] {
    indexes.map { .index($0) } + textIndexes.map { .textIndex($0) }
      + (policy == .declared ? [] : [.policy(policy)])
  }
}
