// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoServer
import NanoStoreCore

/// Indexes and index advice.
extension Inspector {
  func indexes(of collection: DocumentCollection) async throws -> Wire {
    let indexes = try await collection.indexes()
    let text = try await collection.fullTextIndexes()
    let uses = try store.exactIndexUses(in: collection.name)
    let advice = try await store.indexAdvice().filter {
      $0.collection.folded == collection.name.folded
    }
    let fields: [Wire] = indexes.map { index in
      [
        "name": .string(index.name), "keys": .string(index.keys),
        "isUnique": .bool(index.isUnique), "kind": .string(index.kind.rawValue),
        "origin": .string(index.origin.rawValue), "reason": .optional(index.reason),
        "uses": .optional(uses[ExactName(index.name)]),
      ]
    }
    return [
      "indexes": .array(fields),
      "fullTextIndexes": .array(
        text.map { index in
          [
            "name": .string(index.name), "keys": .string(index.keys),
            "fields": .strings(index.fields.map(\.description)),
            "tokens": .string(index.tokens.rawValue),
          ]
        }),
      "policy": .string(try await collection.indexing().rawValue),
      "tracking": .string(try await collection.changeTracking().rawValue),
      "advice": .array(advice.map(Self.wire)),
    ]
  }

  static func wire(_ advice: IndexAdvice) -> Wire {
    [
      "action": .string(advice.action.rawValue), "name": .string(advice.index.name),
      "keys": .string(advice.index.keys), "kind": .string(advice.index.kind.rawValue),
      "isDue": .bool(advice.isDue), "reason": .string(advice.reason),
      "spentMilliseconds": .double(advice.spent / .milliseconds(1)),
      "costMilliseconds": .double(advice.cost / .milliseconds(1)),
    ]
  }
}
