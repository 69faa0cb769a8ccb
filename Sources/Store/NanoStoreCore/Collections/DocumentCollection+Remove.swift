// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentCollection {
  /// Deletes a document and the references to it.
  func remove(_ identity: Identity, _ writer: any EngineWriter) throws -> Bool {
    try InternalCollection.refuse(name)
    if case .key(let key) = identity {
      try writer.prepare([TransactionUse(name, keys: [key]), store.references.use])
    }
    guard try store.hasReferences(writer) else { return try writer.delete(identity, from: name) }
    return try writer.savepoint {
      // References contain the key of a document that has one.
      var referenced = identity
      do {
        try writer.get(identity, in: name) { stored in
          if let key = stored.key { referenced = .key(key) }
        }
      } catch let error as StoreError where error.code == .corruptDocument {
        // A document that cannot be read must still be deletable.
      }
      guard try writer.delete(identity, from: name) else { return false }
      try store.references.remove(to: [referenced], of: name, writer)
      return true
    }
  }

  /// Deletes the documents that match a query, and the references to them.
  func remove(_ query: Query, _ writer: any EngineWriter) throws -> Int {
    try InternalCollection.refuse(name)
    guard try store.hasReferences(writer) else { return try writer.delete(query, from: name) }
    // The statements below must see the same documents, or references would be removed to other documents than those
    // that are deleted. At read committed, each statement sees what others have committed before it.
    try writer.prepare([TransactionUse(exclusive: name)])
    guard try store.references.exist(to: name, writer) else {
      return try writer.delete(query, from: name)
    }
    return try writer.savepoint {
      if query == Query() {
        try store.references.removeAll(to: name, writer)
      } else {
        var found: [Identity] = []
        var identities = query
        identities.fields = []
        try writer.find(identities, in: name) { stored in
          found.append(stored.key.map { .key($0) } ?? .rowID(stored.rowID))
          return true
        }
        try store.references.remove(to: found, of: name, writer)
      }
      return try writer.delete(query, from: name)
    }
  }

  /// Drops the collection and the references to its documents.
  func drop(_ writer: any EngineWriter) throws -> Bool {
    try InternalCollection.refuse(name)
    guard try writer.dropCollection(name) else { return false }
    if try store.hasReferences(writer) { try store.references.removeAll(to: name, writer) }
    return true
  }
}
