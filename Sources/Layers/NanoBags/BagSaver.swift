// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// Writes a bag and the bags in it, in the running transaction.
struct BagSaver {
  private let store: Store
  private let writer: any EngineWriter

  init(_ store: Store, _ writer: any EngineWriter) {
    self.store = store
    self.writer = writer
  }

  private struct Plan {
    let bag: Bag
    let changes: BagChanges
    /// The row ID of the stored bag.
    var rowID: Int64 = 0
    /// Whether the store did not contain the bag, so that it has no memberships yet.
    var isNew = false
  }

  func save(_ root: Bag) throws {
    let nodes = try root.savedTogether { bag, state, members in
      try BagReader(writer, bag.documentKey, state.base).contained(members)
    }
    guard nodes.allSatisfy({ $0.state.store == nil || $0.state.store === store }) else {
      throw Bag.otherStore
    }
    // A bag that another thread adds only now is not among these, so it must not be among their changes either.
    var plans = nodes.map { Plan(bag: $0.bag, changes: BagChanges($0.state)) }
      .filter(\.changes.state.needsWriting)
    guard !plans.isEmpty else { return }
    try createCollections()
    // All bags before any memberships, since they may contain each other.
    for index in plans.indices { try writeBag(&plans[index]) }
    for plan in plans { try writeDocuments(plan) }
    // A document may have the key of one that has expired, whose memberships are not those of the new one.
    try store.removeSweptReferences(writer)
    for plan in plans { try writeMembers(plan) }
    for plan in plans { finish(plan) }
  }

  private func createCollections() throws {
    guard try writer.identity(of: Membership.collection) != .rowID else { return }
    for collection in [InternalCollection.bags, .bagMembers] {
      try writer.createCollection(collection.description)
    }
    try writer.createIndex(
      IndexDefinition(columns: [.init("name")]), in: InternalCollection.bags.rawValue)
    // The second index is unique, to prevent other programs from adding a document twice.
    let canBeUnique = try store.engine().capabilities.contains(.uniqueIndexes)
    for fields in Membership.indexes {
      try writer.createIndex(
        IndexDefinition(
          columns: fields.map { IndexDefinition.Column(FieldPath($0)) },
          isUnique: canBeUnique && fields.count == 3),
        in: Membership.collection)
    }
    store.noteReferences()
  }

  private func writeBag(_ plan: inout Plan) throws {
    let state = plan.changes.state
    let known = try BagReader.rowID(plan.bag.documentKey, writer)
    if state.base.isStored, known == nil { throw Bag.notFound(plan.bag.key) }
    plan.isNew = known == nil
    if let known, state.base.isStored, !state.isRenamed {
      plan.rowID = known
      return
    }
    var json = JSONWriter(capacity: 128)
    json.object(["name": state.name.map { .string($0) } ?? .null])
    try json.checkStorable(limit: store.maximumDocumentSize)
    plan.rowID = try writer.save(
      NewDocument(key: plan.bag.documentKey, added: Clock.microseconds(), body: json.bytes),
      into: InternalCollection.bags.rawValue)
  }
}

extension BagSaver {
  /// Writes documents that are new, edited or missing, grouped by collection.
  private func writeDocuments(_ plan: Plan) throws {
    var waiting: [Document] = []
    var collection = ""
    func write() throws {
      guard !waiting.isEmpty else { return }
      try store[collection].save(waiting)
      waiting = []
    }
    for entry in plan.changes.unsaved {
      guard case .document(let document, let isEdited) = entry.content else {
        try requireBag(entry, plan)
        continue
      }
      guard try isEdited || !exists(entry.member) else { continue }
      if !entry.member.collection.hasSameBytes(as: collection) {
        try write()
        collection = entry.member.collection
      }
      if entry.member.rowID == nil {
        waiting.append(document)
      } else {
        try store[collection].save(document)
      }
    }
    try write()
  }

  private func exists(_ member: BagMember) throws -> Bool {
    try writer.get(member.identity, in: member.folded) { _ in }
  }

  /// Returns the members that do not exist, in few calls: on a server, each is a round trip.
  private func missing(_ members: Set<BagMember>) throws -> Set<BagMember> {
    var missing = members
    for (collection, some) in Dictionary(grouping: members, by: \.exact) {
      func note(_ document: StoredDocument) {
        missing.remove(BagMember(collection.text, .rowID(document.rowID)))
        guard let key = document.key else { return }
        missing.remove(BagMember(collection.text, .key(key)))
      }
      for start in stride(from: 0, to: some.count, by: Membership.chunk) {
        let chunk = some[start..<min(start + Membership.chunk, some.count)]
        let keys = chunk.compactMap { if case .key(let key) = $0.identity { key } else { nil } }
        if !keys.isEmpty { try writer.get(keys: keys, in: collection.text, note) }
        let rowIDs = chunk.compactMap(\.rowID).sorted()
        if !rowIDs.isEmpty { try writer.get(rowIDs: rowIDs, in: collection.text, note) }
      }
    }
    return missing
  }

  private func requireBag(_ entry: BagState.Entry, _ plan: Plan) throws {
    guard try exists(entry.member) else { throw Bag.notFound(entry.member.key ?? "") }
  }
}

extension BagSaver {
  private func writeMembers(_ plan: Plan) throws {
    let changes = plan.changes
    let memberships = BagMemberships(writer)
    if changes.state.isCleared {
      try memberships.removeAll(from: plan.rowID)
    } else if !plan.isNew {
      let moved = changes.unsaved.filter(\.isMoved).map(\.member)
      // They may exist again since a read found them missing.
      let missing = try missing(changes.state.dangling)
      try memberships.remove(
        changes.removed.map(\.member) + moved + missing, from: plan.rowID)
      try sweep(plan)
    }
    let reader = try BagReader(writer, plan.bag.documentKey, .stored)
    var last = try reader.lastPlace()
    var known = plan.isNew ? [] : try reader.contained(changes.unsaved.map(\.member))
    var json = JSONWriter(capacity: 256)
    func add(_ member: BagMember) throws {
      guard known.insert(member).inserted else { return }
      let (position, overflows) = (last?.position ?? 0).addingReportingOverflow(1)
      if let last, overflows { throw Self.noPosition(after: last) }
      last = Membership.Place(position: position, rowID: 0)
      json.removeAll()
      Membership(bag: plan.rowID, position: position, member: member).write(to: &json)
      try json.checkStorable(limit: .max)
      _ = try writer.insert(
        NewDocument(key: nil, added: Clock.microseconds(), body: json.bytes),
        into: Membership.collection)
    }
    for member in try inherited(changes) { try add(member) }
    for entry in changes.unsaved { try add(entry.member) }
  }

  private static func noPosition(after place: Membership.Place) -> StoreError {
    StoreError(
      .corruptDocument, "No member can be added after the largest position in a bag",
      [
        .collection: Membership.collection, .rowID: "\(place.rowID)",
        .hint: "remove the member at this position, or all members",
      ])
  }

  /// Returns the members that a copy inherits from its original.
  private func inherited(_ changes: BagChanges) throws -> [BagMember] {
    guard case .inherited(let inherited) = changes.state.base, !changes.state.isCleared else {
      return []
    }
    return try inherited.members.filter { member in
      guard changes.state.removed[member] == nil else { return false }
      guard let entry = changes.state.unsaved[member] else { return try exists(member) }
      return !entry.isMoved
    }
  }

  /// The number of members that one save checks for existence, which takes about 0.1 ms. Arbitrary.
  private static let swept = 64

  /// Removes memberships of documents that another program deleted. Each save checks only a few
  /// members, so that its cost does not depend on the size of the bag; all of them are checked
  /// after several saves.
  private func sweep(_ plan: Plan) throws {
    let reader = try BagReader(writer, plan.bag.documentKey, .stored)
    let start = plan.changes.state.sweptTo
    var page = try reader.members(after: start, limit: Self.swept)
    if start != nil, page.count < Self.swept {
      page += try reader.members(limit: Self.swept - page.count)
    }
    try BagMemberships(writer).remove(missing(Set(page.map(\.member))), from: plan.rowID)
    let end = page.count < Self.swept ? nil : page[page.count - 1].place
    plan.bag.change { $0.sweptTo = end }
  }

  /// Marks the bag as saved before the commit, so that the rest of the transaction sees it saved.
  /// Other callers do not see it saved until the commit.
  private func finish(_ plan: Plan) {
    let (bag, changes, store) = (plan.bag, plan.changes, store)
    let isInflated = changes.state.inflated != nil
    let loaded = isInflated ? loaded(changes) : [:]
    bag.changeUntilRollback(on: store) { state, owner in
      state.finish(changes, on: store, by: owner)
      for entry in changes.removed { state.inflated?[entry.member] = nil }
      state.inflated?.merge(loaded) { $1 }
    }
  }

  /// Returns the documents just saved, as they are stored.
  private func loaded(_ changes: BagChanges) -> [BagMember: Document] {
    guard let reader = try? BagReader(writer, DocumentKey.uuid(0, 0), .none) else { return [:] }
    var loaded: [BagMember: Document] = [:]
    for entry in changes.unsaved { loaded[entry.member] = try? reader.document(entry.member) }
    return loaded
  }
}

extension BagReader {
  /// Returns a place with the largest position; nil if the bag is empty.
  fileprivate func lastPlace() throws -> Membership.Place? {
    guard let bag, let reader else { return nil }
    let last = Query(
      Membership.isIn(bag), orderings: [.reverse("position")], limit: 1)
    var place: Membership.Place?
    try Self.find(last, reader) { place = $0.place }
    return place
  }
}
