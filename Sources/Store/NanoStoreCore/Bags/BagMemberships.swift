// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Removes documents and bags from bags, in the running transaction.
struct BagMemberships {
  private let writer: any EngineWriter
  init(_ writer: any EngineWriter) { self.writer = writer }

  private func remove(_ condition: Condition) throws {
    _ = try writer.delete(Query(condition), from: Membership.collection)
  }

  func removeAll(from bag: Int64) throws { try remove(Membership.isIn(bag)) }

  /// Removes members from one bag.
  func remove(_ members: some Sequence<BagMember>, from bag: Int64) throws {
    try eachChunk(of: members) { try remove(Membership.isIn(bag) && $0) }
  }

  /// Removes members that were deleted from the store from all bags.
  func forget(_ members: some Sequence<BagMember>) throws {
    try eachChunk(of: members) { try remove($0) }
  }

  func forget(collection: String) throws { try remove(Membership.isOf(collection.foldingASCII)) }

  /// Returns whether any bag contains documents of a collection.
  func concern(_ collection: String) throws -> Bool {
    let query = Query(Membership.isOf(collection.foldingASCII), limit: 1)
    return try writer.count(query, in: Membership.collection) > 0
  }

  private func eachChunk(
    of members: some Sequence<BagMember>, _ work: (Condition) throws -> Void
  ) throws {
    for (collection, some) in Dictionary(grouping: members, by: \.exact) {
      for start in stride(from: 0, to: some.count, by: Membership.chunk) {
        let chunk = some[start..<min(start + Membership.chunk, some.count)]
        try work(Membership.concerns(collection.text, chunk.map(\.identity)))
      }
    }
  }

  /// Deletes a bag, its memberships, and its membership in other bags; returns false if no bag has
  /// this key.
  func deleteBag(_ key: DocumentKey) throws -> Bool {
    guard let rowID = try BagReader.rowID(key, writer) else { return false }
    try removeAll(from: rowID)
    try forget([.bag(key)])
    return try writer.delete(.key(key), from: InternalCollection.bags.rawValue)
  }
}

extension DocumentCollection {
  /// Deletes a document from the collection and from the bags that contain it.
  func remove(_ identity: Identity, _ writer: any EngineWriter) throws -> Bool {
    try InternalCollection.refuse(name)
    guard try store.hasBags(writer) else { return try writer.delete(identity, from: name) }
    return try writer.savepoint {
      // Bags refer to a document by its key if it has one.
      var member = BagMember(name, identity)
      do {
        try writer.get(identity, in: name) { stored in
          if let key = stored.key { member = BagMember(name, .key(key)) }
        }
      } catch let error as StoreError where error.code == .corruptDocument {
        // A document that cannot be read must still be deletable.
      }
      guard try writer.delete(identity, from: name) else { return false }
      try BagMemberships(writer).forget([member])
      return true
    }
  }

  /// Deletes the documents that match a query from the collection and from the bags that contain
  /// them.
  func remove(_ query: Query, _ writer: any EngineWriter) throws -> Int {
    try InternalCollection.refuse(name)
    let memberships = BagMemberships(writer)
    guard try store.hasBags(writer), try memberships.concern(name) else {
      return try writer.delete(query, from: name)
    }
    return try writer.savepoint {
      if query == Query() {
        try memberships.forget(collection: name)
      } else {
        var found: [BagMember] = []
        var identities = query
        identities.fields = []
        try writer.find(identities, in: name) { stored in
          found.append(BagMember(name, stored.key.map { .key($0) } ?? .rowID(stored.rowID)))
          return true
        }
        try memberships.forget(found)
      }
      return try writer.delete(query, from: name)
    }
  }

  /// Drops the collection and removes its documents from bags.
  func drop(_ writer: any EngineWriter) throws -> Bool {
    try InternalCollection.refuse(name)
    guard try writer.dropCollection(name) else { return false }
    if try store.hasBags(writer) { try BagMemberships(writer).forget(collection: name) }
    return true
  }
}

extension Store {
  /// Returns whether the database holds bags.
  ///
  /// Checked once per transaction, since no other connection can create the first bag meanwhile;
  /// not cached any longer, since another program may create one.
  fileprivate func hasBags(_ writer: any EngineWriter) throws -> Bool {
    let context = TransactionContext.current(of: self)
    if let known = context?.hasBags { return known }
    // A collection that does not exist is reported with keys as its identity.
    let found = try writer.identity(of: Membership.collection) == .rowID
    context?.hasBags = found
    return found
  }
}
