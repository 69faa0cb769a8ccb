// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Finds documents of a bag.
///
/// There are two ways, chosen for each collection: to go through the members and check each document,
/// or to let the engine find what fulfils the condition, by its indexes perhaps, and look up which of
/// it is in the bag. The second is taken where the bag holds a good part of the collection or an
/// index answers the condition, and given up if more is found than the bag has members.
struct BagSearch {
  let bag: BagReader
  private let query: Query
  private let only: String?
  private let program: ConditionProgram

  struct Match {
    let position: Int64
    let member: BagMember
    /// Nil if it is still to be read.
    var document: Document?
  }

  init(_ bag: BagReader, _ query: Query, _ only: String?) throws {
    self.bag = bag
    self.query = query
    self.only = only?.foldingASCII
    program = try ConditionProgram(query.condition)
  }

  /// What is found, sorted and cut.
  func found() throws -> [Match] {
    guard let reader = bag.reader, let row = bag.bag else { return [] }
    var matches: [Match] = []
    var searched: Set<String> = []
    for (folded, name) in try bag.names() where isWanted(folded) {
      guard let found = try byCondition(name, folded, row, reader) else { continue }
      matches += found
      searched.insert(folded)
    }
    try byMembers(searched, &matches)
    if !searched.isEmpty { matches.sort { $0.position < $1.position } }
    if !query.orderings.isEmpty { matches = try sorted(matches) }
    let page = matches.dropFirst(query.offset)
    return Array(page.prefix(query.limit ?? page.count))
  }

  func documents(_ matches: [Match]) throws -> [Document] {
    try matches.compactMap { match in
      guard let document = try match.document ?? bag.document(match.member) else { return nil }
      guard let fields = query.fields else { return document }
      return try document.selecting(fields)
    }
  }

  private func isWanted(_ folded: String) -> Bool {
    folded != InternalCollection.bags.rawValue && (only == nil || only == folded)
  }
}

extension BagSearch {
  /// Bags with fewer members of a collection are gone through at once: finding out more would cost as
  /// much. Arbitrary.
  private static let small = 500

  /// Checking a member costs about so many times what the engine needs for a document that it scans.
  private static let scanAdvantage: Int64 = 4

  /// What the engine finds in a collection; nil if the members are to be gone through.
  private func byCondition(
    _ name: String, _ folded: String, _ row: Int64, _ reader: any EngineReader
  ) throws -> [Match]? {
    guard query.condition != .constant(true) else { return nil }
    let members = Query(Membership.isIn(row) && Membership.isOf(folded))
    var few = members
    few.limit = Self.small
    guard try reader.count(few, in: Membership.collection) == Self.small else { return nil }
    let count = try reader.count(members, in: Membership.collection)
    let condition = Query(query.condition, fields: [])
    let isScanned = try size(name, reader) <= Int64(count) * Self.scanAdvantage
    if !isScanned {
      guard try !reader.explain(condition, in: name).indexes.isEmpty else { return nil }
    }
    var found: [Identity] = []
    try reader.find(condition, in: name) { stored in
      found.append(stored.key.map { .key($0) } ?? .rowID(stored.rowID))
      return isScanned || found.count <= count
    }
    guard isScanned || found.count <= count else { return nil }
    return try bag.places(of: found, in: folded).map {
      Match(position: $0.position, member: $0.member)
    }
  }

  /// At least as many documents as there are.
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

  /// Goes through the members of collections that were not searched yet.
  private func byMembers(_ searched: Set<String>, _ matches: inout [Match]) throws {
    let names = try bag.names()
    if let only, searched.contains(only) { return }
    let isInOrder = searched.isEmpty && query.orderings.isEmpty
    let enough = isInOrder ? query.limit.map { $0 + query.offset } : nil
    try bag.each { position, member in
      if let enough, matches.count >= enough { return false }
      guard isWanted(member.folded), !searched.contains(member.folded),
        let name = names[member.folded]
      else { return true }
      try bag.reader?.get(member.identity, in: name) { stored in
        guard try program.holds(for: stored.body, { stored.value(of: $0) }) else { return }
        matches.append(
          Match(position: position, member: member, document: Document(stored, in: name)))
      }
      return true
    }
  }

  private func sorted(_ matches: [Match]) throws -> [Match] {
    let programs = query.orderings.map(OrderingProgram.init)
    var rows: [(values: [DocumentValue], match: Match)] = []
    for match in matches {
      guard let name = try bag.names()[match.member.folded] else { continue }
      try bag.reader?.get(match.member.identity, in: name) { stored in
        let values = try programs.map { program in
          try program.value(stored.body) { stored.value(of: $0) }
        }
        rows.append((values, match))
      }
    }
    rows.sort { a, b in
      for (index, ordering) in query.orderings.enumerated() {
        let order = ValueOrder.compare(a.values[index], b.values[index])
        if order != 0 { return ordering.descending ? order > 0 : order < 0 }
      }
      return a.match.position < b.match.position
    }
    return rows.map(\.match)
  }
}

extension Document {
  /// Only these fields, as a document that cannot be saved over the whole one.
  func selecting(_ fields: [FieldPath]) throws -> Document {
    var header = header
    header.isPartial = true
    var writer = JSONWriter(capacity: 256)
    writer.object(try object().selecting(fields))
    return Document(header, copying: writer.bytes)
  }
}
