// SPDX-License-Identifier: MIT

import NanoStore

/// The expected contents of a store, as plain values.
struct ExpectedState: Equatable {
  /// Documents by collection and key.
  var documents: [String: [String: DocumentObject]] = [:]
  /// Keys of people by the name of the bag.
  var bags: [String: Set<String>] = [:]
  var metadata: [String: DocumentValue] = [:]
  /// The number of the last applied round.
  var round = 0

  /// Applies the rounds up to the specified one.
  mutating func advance(to last: Int, _ plan: RoundPlan) {
    while round < last { apply(plan.round(round + 1)) }
  }

  mutating func apply(_ round: Round) {
    for change in round.changes { apply(change) }
    self.round = round.number
  }

  private mutating func apply(_ change: Change) {
    switch change {
    case .save(let collection, let key, let object):
      documents[collection, default: [:]][key] = object
    case .update(let collection, let key, let field, let value):
      documents[collection]?[key]?[field] = value
    case .remove(let collection, let key):
      documents[collection]?[key] = nil
      if collection == RoundPlan.people {
        for name in bags.keys { bags[name]?.remove(key) }
      }
    case .removeGroup(let collection, let group):
      for (key, object) in documents[collection] ?? [:] where object["group"] == .int(group) {
        apply(.remove(collection, key: key))
      }
    case .drop(let collection): documents[collection] = nil
    case .refused: break
    case .fillBag(let name, let keys):
      let known = documents[RoundPlan.people] ?? [:]
      bags[name, default: []].formUnion(keys.filter { known[$0] != nil })
    case .emptyBag(let name): bags[name] = nil
    case .metadata(let name, let value): metadata[name] = value
    }
  }
}

/// One change of a round.
enum Change: Hashable, Sendable {
  case save(String, key: String, DocumentObject)
  /// Sets a field of the document, if it exists.
  case update(String, key: String, field: String, DocumentValue)
  case remove(String, key: String)
  case removeGroup(String, Int64)
  case drop(String)
  /// A document that a unique index must reject, because it has the name of the document with this key, if that
  /// exists.
  case refused(String, name: String)
  /// Adds the existing people among the keys to a bag.
  case fillBag(String, [String])
  case emptyBag(String)
  case metadata(String, DocumentValue?)
}

/// The changes of one transaction.
struct Round: Sendable {
  let number: Int
  let changes: [Change]
}
