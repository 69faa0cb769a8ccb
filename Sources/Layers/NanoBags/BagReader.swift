// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Reads the saved members of one bag from a snapshot. Every query except the iteration over all
/// members uses an index.
///
/// Confined to the block of the snapshot.
final class BagReader {
  let reader: (any EngineReader)?
  private let base: Members
  private var knownNames: [ExactName: String]?

  private enum Members {
    case none
    /// The row ID of the stored bag.
    case stored(Int64)
    case inherited(InheritedMembers)
  }

  /// - Parameter reader: The reader; nil for a bag without a store.
  init(_ reader: (any EngineReader)?, _ key: DocumentKey, _ base: BagState.Base) throws {
    self.reader = reader
    switch base {
    case .none: self.base = .none
    case .inherited(let members): self.base = .inherited(members)
    // A bag that was deleted in the meantime is empty.
    case .stored:
      self.base = try reader.flatMap { try Self.rowID(key, $0) }.map(Members.stored) ?? .none
    }
  }

  static func rowID(_ key: DocumentKey, _ reader: any EngineReader) throws -> Int64? {
    var found: Int64?
    try reader.get(.key(key), in: InternalCollection.bags.rawValue) { found = $0.rowID }
    return found
  }

  /// The row ID of the bag, if it is stored.
  var bag: Int64? { if case .stored(let bag) = base { bag } else { nil } }

  func count() throws -> Int {
    switch base {
    case .none: 0
    case .stored(let bag):
      try reader?.count(Query(Membership.isIn(bag)), in: Membership.collection) ?? 0
    case .inherited(let inherited): inherited.members.count
    }
  }

  var isEmpty: Bool {
    get throws { try members(limit: 1).isEmpty }
  }

  func contains(_ member: BagMember) throws -> Bool {
    switch base {
    case .none: return false
    case .stored(let bag):
      let condition = Membership.isIn(bag) && Membership.concerns(member)
      return try reader?.count(Query(condition, limit: 1), in: Membership.collection) ?? 0 > 0
    case .inherited(let inherited): return inherited.contains(member)
    }
  }

  /// Returns those of the members that are in the bag.
  func contained(_ members: [BagMember]) throws -> Set<BagMember> {
    switch base {
    case .none: return []
    case .inherited(let inherited): return Set(members.filter(inherited.contains))
    case .stored: break
    }
    var found: Set<BagMember> = []
    for (collection, some) in Dictionary(grouping: members, by: \.exact) {
      for membership in try memberships(of: some.map(\.identity), in: collection.text) {
        found.insert(membership.member)
      }
    }
    return found
  }

  /// Returns the memberships of documents of one collection.
  func memberships(of identities: [Identity], in collection: String) throws -> [Membership] {
    guard let bag, let reader else { return [] }
    var found: [Membership] = []
    for start in stride(from: 0, to: identities.count, by: Membership.chunk) {
      let some = identities[start..<min(start + Membership.chunk, identities.count)]
      let condition = Membership.isIn(bag) && Membership.concerns(collection, some)
      try Self.find(Query(condition), reader) { found.append($0) }
    }
    return found
  }

  /// Returns members in order, each with its place.
  ///
  /// - Parameter place: The place that they are after; nil for the beginning.
  func members(
    after place: Membership.Place? = nil, offset: Int = 0, limit: Int?
  ) throws -> [(place: Membership.Place, member: BagMember)] {
    switch base {
    case .none: return []
    case .inherited(let inherited):
      let passed = Int(place?.position ?? 0)
      let all = inherited.members.indices.dropFirst(passed).dropFirst(offset)
      // Positions of a copy start at one, as those of its memberships will, whatever their row IDs.
      return all.prefix(limit ?? all.count).map { index in
        (Membership.Place(position: Int64(index + 1), rowID: .max), inherited.members[index])
      }
    case .stored(let bag):
      guard let reader else { return [] }
      var query = Query(
        Membership.isIn(bag), orderings: [.forward("position")], limit: limit, offset: offset)
      if let place {
        // An index serves the condition, but not the page position.
        query.condition = query.condition && Field("position") >= place.position
        query.after = PagePosition(values: [.int(place.position)], rowID: place.rowID)
      }
      var found: [(place: Membership.Place, member: BagMember)] = []
      try Self.find(query, reader) { found.append(($0.place, $0.member)) }
      return found
    }
  }

  /// Passes every member to the closure in order, until it returns false. The closure may read.
  func each(_ show: (Membership.Place, BagMember) throws -> Bool) throws {
    var last: Membership.Place?
    while true {
      let page = try members(after: last, limit: Membership.chunk)
      for (place, member) in page where try !show(place, member) { return }
      guard page.count == Membership.chunk else { return }
      last = page[page.count - 1].place
    }
  }

  static func find(
    _ query: Query, _ reader: any EngineReader, _ show: (Membership) throws -> Void
  ) throws {
    try reader.find(query, in: Membership.collection) { stored in
      var json = JSONReader(stored.body)
      var membership = try Membership(reading: &json)
      membership.rowID = stored.rowID
      try show(membership)
      return true
    }
  }
}

extension BagReader {
  /// Returns the original names of the collections, by folded name.
  func names() throws -> [ExactName: String] {
    if let knownNames { return knownNames }
    let names = try reader?.collections().map { ($0.name.folded, $0.name) } ?? []
    let known = Dictionary(names) { first, _ in first }
    knownNames = known
    return known
  }

  /// Returns the member with the original name of its collection.
  func named(_ member: BagMember) throws -> BagMember {
    BagMember(try names()[member.exact] ?? member.collection, member.identity)
  }

  func document(_ member: BagMember) throws -> Document? {
    guard !member.isBag, let reader else { return nil }
    let name = try names()[member.exact] ?? member.collection
    var found: Document?
    try reader.get(member.identity, in: name) { found = Document($0, in: name) }
    return found
  }

  /// Returns whether the document or bag exists in the store.
  func exists(_ member: BagMember) throws -> Bool {
    try reader?.get(member.identity, in: member.folded) { _ in } ?? false
  }
}
