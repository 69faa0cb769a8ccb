// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// Removes and replaces members of bags, in the running transaction.
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

  /// Replaces a member of all bags by another one, at its position in each.
  func move(from old: BagMember, to new: BagMember) throws {
    var found: [Membership] = []
    try BagReader.find(Query(Membership.concerns(old)), writer) { found.append($0) }
    var json = JSONWriter(capacity: 256)
    for var membership in found {
      membership.member = new
      json.removeAll()
      membership.write(to: &json)
      _ = try writer.replace(
        .rowID(membership.rowID),
        with: NewDocument(key: nil, added: Clock.microseconds(), body: json.bytes),
        in: Membership.collection)
    }
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
