// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Finds documents of a bag.
///
/// For each collection it uses one of two plans: iterate over the members and check each document,
/// or let the engine execute the condition, possibly with an index, and look up which results are
/// in the bag. The second plan is used if the bag holds a good part of the collection or an index
/// serves the condition. It is abandoned if it finds more documents than the bag has members.
struct BagSearch {
  let bag: BagReader
  private let query: Query
  private let only: String?
  private let matchers: BagMatchers

  struct Match {
    let place: Membership.Place
    let member: BagMember
    /// The values that it is sorted by.
    var values: [DocumentValue] = []
  }

  init(_ bag: BagReader, _ query: Query, _ only: String?) throws {
    self.bag = bag
    self.query = query
    self.only = only?.foldingASCII
    matchers = try BagMatchers(query, bag.reader)
  }

  /// Returns the matches, sorted and limited.
  func found() throws -> [Match] {
    guard let reader = bag.reader, let row = bag.bag else { return [] }
    var matches: [Match] = []
    var rest: Set<ExactName> = []
    var isSearched = false
    for (folded, name) in try bag.names().map({ ($0.key.text, $0.value) }) where isIncluded(folded)
    {
      switch try byCondition(name, folded, row, reader) {
      case .empty: break
      case .found(let found):
        matches += found
        isSearched = true
      case .undecided: rest.insert(ExactName(folded))
      }
    }
    if !isSearched {
      matches = try byMembers(of: rest)
    } else {
      for folded in rest { matches += try byMembers(of: folded.text, row, reader) }
      matches.sort { $0.place < $1.place }
    }
    if !query.orderings.isEmpty { matches.sort(by: precedes) }
    let page = matches.dropFirst(query.offset)
    return Array(page.prefix(query.limit ?? page.count))
  }

  func documents(_ matches: [Match]) throws -> [Document] {
    try matches.compactMap { match in
      guard let document = try bag.document(match.member) else { return nil }
      guard let fields = query.fields else { return document }
      return try document.selecting(fields)
    }
  }

  /// Returns the document of a match, with all its fields and the defaults of its collection.
  func subject(_ match: Match) throws -> DocumentSubject? {
    guard let document = try bag.document(match.member) else { return nil }
    return DocumentSubject(
      try document.object(), defaults: try matchers.defaults(of: match.member.folded))
  }

  private func isIncluded(_ folded: String) -> Bool {
    folded != InternalCollection.bags.rawValue && (only == nil || only.hasSameBytes(as: folded))
  }

  private func precedes(_ a: Match, _ b: Match) -> Bool {
    for (index, ordering) in query.orderings.enumerated() {
      let order = ValueOrder.compare(a.values[index], b.values[index])
      if order != 0 { return ordering.descending ? order > 0 : order < 0 }
    }
    return a.place < b.place
  }
}

extension BagSearch {
  /// The number of members of a collection below which they are iterated immediately: choosing a
  /// plan would cost as much. Arbitrary.
  private static let small = 500

  /// How many times the cost of scanning a document it takes to check a member, approximately.
  private static let scanAdvantage: Int64 = 4

  private enum ConditionResult {
    /// The bag has no members in the collection.
    case empty
    case found([Match])
    /// The members must be iterated.
    case undecided
  }

  /// Executes the condition on a collection and returns the matches that are in the bag.
  private func byCondition(
    _ name: String, _ folded: String, _ row: Int64, _ reader: any EngineReader
  ) throws -> ConditionResult {
    guard query.condition != .constant(true) else { return .undecided }
    let members = Query(Membership.isIn(row) && Membership.isOf(folded))
    var few = members
    few.limit = Self.small
    let atLeast = try reader.count(few, in: Membership.collection)
    guard atLeast > 0 else { return .empty }
    guard atLeast == Self.small else { return .undecided }
    let count = try reader.count(members, in: Membership.collection)
    let condition = Query(query.condition, fields: [])
    let isScanned = try size(name, reader) <= Int64(count) * Self.scanAdvantage
    if !isScanned {
      guard try !reader.explain(condition, in: name).indexes.isEmpty else { return .undecided }
    }
    var found: [Identity] = []
    try reader.find(condition, in: name) { stored in
      found.append(stored.key.map { .key($0) } ?? .rowID(stored.rowID))
      return isScanned || found.count <= count
    }
    guard isScanned || found.count <= count else { return .undecided }
    let matches = try bag.memberships(of: found, in: folded).map { membership in
      var match = Match(place: membership.place, member: membership.member)
      if !query.orderings.isEmpty {
        try reader.get(membership.member.identity, in: name) {
          match.values = try matchers.values($0, in: folded)
        }
      }
      return match
    }
    return .found(matches)
  }

  /// Returns an upper bound of the number of documents.
  private func size(_ name: String, _ reader: any EngineReader) throws -> Int64 {
    var last: Int64 = 0
    let query = Query(
      orderings: [Ordering(.attribute(.rowID), descending: true)], limit: 1, fields: [])
    try reader.find(query, in: name) { stored in
      last = stored.rowID
      return false
    }
    return last
  }

  /// Iterates over the members of some collections in order, up to the end of the page.
  private func byMembers(of collections: Set<ExactName>) throws -> [Match] {
    guard !collections.isEmpty else { return [] }
    let (end, isHuge) = (query.limit ?? .max).addingReportingOverflow(query.offset)
    let enough = query.orderings.isEmpty && !isHuge ? end : nil
    var matches: [Match] = []
    try bag.each { place, member in
      if let enough, matches.count >= enough { return false }
      guard collections.contains(ExactName(member.folded)) else { return true }
      if let match = try match(place, member) { matches.append(match) }
      return true
    }
    return matches
  }

  /// Iterates over the members of one collection.
  private func byMembers(
    of collection: String, _ row: Int64, _ reader: any EngineReader
  ) throws -> [Match] {
    var memberships: [Membership] = []
    let members = Query(Membership.isIn(row) && Membership.isOf(collection))
    try BagReader.find(members, reader) { memberships.append($0) }
    return try memberships.compactMap { try match($0.place, $0.member) }
  }

  /// Returns a match if the member's document exists and satisfies the condition.
  private func match(_ place: Membership.Place, _ member: BagMember) throws -> Match? {
    var match: Match?
    try bag.reader?.get(member.identity, in: member.folded) { stored in
      guard try matchers.holds(for: stored, in: member.folded) else { return }
      match = Match(
        place: place, member: member,
        values: try matchers.values(stored, in: member.folded))
    }
    return match
  }
}
