// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

/// One view of a bag: what is saved, what is unsaved, what is removed, or all that is in it.
///
/// ```swift
/// try bag.saved.count()                      // 100_000, by an index
/// try bag.unsaved.members().map(\.key)
/// try bag.removed.documents()
/// ```
///
/// It holds nothing itself: each call answers for the moment at which it is made. A document that
/// another program removed is passed over.
public struct BagPart: Sendable {
  enum Kind: Sendable { case contents, saved, unsaved, removed }
  let bag: Bag
  let kind: Kind

  /// How many there are, bags included. What another program removed counts until the next save.
  public func count() throws -> Int {
    try bag.reading { reader, state in
      let saved = try state.isCleared ? 0 : state.savedCount(reader)
      switch kind {
      case .saved: return saved
      case .unsaved: return state.unsaved.count
      case .contents: return saved + state.unsaved.count
      case .removed:
        return state.removed.count + (state.isCleared ? try state.savedCount(reader) : 0)
      }
    }
  }
  public func count() async throws -> Int { try await bag.onReader { try self.count() } }

  /// The members, in the order in which they were added.
  ///
  /// - Parameters:
  ///   - limit: How many at most; nil for all.
  ///   - offset: How many to leave out first.
  public func members(limit: Int? = nil, offset: Int = 0) throws -> [BagMember] {
    try checkPage(limit, offset)
    return try bag.reading { reader, state in
      try page(reader, state, limit, offset).map { try reader.named($0.member) }
    }
  }
  public func members(limit: Int? = nil, offset: Int = 0) async throws -> [BagMember] {
    try await bag.onReader { try self.members(limit: limit, offset: offset) }
  }

  /// The keys of the members, in order; documents known by their row ids alone are left out.
  public func keys(limit: Int? = nil, offset: Int = 0) throws -> [String] {
    try members(limit: limit, offset: offset).compactMap(\.key)
  }
  public func keys(limit: Int? = nil, offset: Int = 0) async throws -> [String] {
    try await bag.onReader { try self.keys(limit: limit, offset: offset) }
  }

  /// The documents, in order, unsaved ones as they were added.
  ///
  /// A page counts members, so it may hold fewer documents than its limit where bags, or documents
  /// that another program removed, stand between them; pages never overlap.
  public func documents(limit: Int? = nil, offset: Int = 0) throws -> [Document] {
    try checkPage(limit, offset)
    return try bag.reading { reader, state in
      try page(reader, state, limit, offset).compactMap { try bag.document($0, reader, state) }
    }
  }
  public func documents(limit: Int? = nil, offset: Int = 0) async throws -> [Document] {
    try await bag.onReader { try self.documents(limit: limit, offset: offset) }
  }

  /// The document with this key; nil if it is not in this part.
  public func document(_ key: String, in collection: String? = nil) throws -> Document? {
    let key = try DocumentKey(key)
    return try bag.reading { reader, state in
      for member in try state.members(key, in: collection, reader) {
        guard let found = try lookUp(member, reader, state) else { continue }
        if let document = try bag.document(found, reader, state) { return document }
      }
      return nil
    }
  }
  public func document(_ key: String, in collection: String? = nil) async throws -> Document? {
    try await bag.onReader { try self.document(key, in: collection) }
  }

  public func contains(_ member: BagMember) throws -> Bool {
    try bag.reading { reader, state in try isMember(member, reader, state) }
  }
  public func contains(_ member: BagMember) async throws -> Bool {
    try await bag.onReader { try self.contains(member) }
  }

  /// The bags in this part, in order. One that was added here is the instance that was added, as
  /// long as it lives.
  public func bags() throws -> [Bag] {
    try bag.reading { reader, state in
      try page(reader, state, nil, 0).filter(\.member.isBag)
        .compactMap { try bag.nested($0, reader, state) }
    }
  }
  public func bags() async throws -> [Bag] { try await bag.onReader { try self.bags() } }
}

extension BagPart {
  /// A member, with what was added if it is unsaved.
  struct Item {
    let member: BagMember
    var content = BagState.Content.stored
  }

  func memberSet() throws -> Set<BagMember> {
    try bag.reading { reader, state in Set(try page(reader, state, nil, 0).map(\.member)) }
  }

  func isMember(_ member: BagMember, _ reader: BagReader, _ state: BagState) throws -> Bool {
    guard let found = try lookUp(member, reader, state) else { return false }
    if case .stored = found.content, kind != .removed { return try reader.exists(member) }
    return true
  }

  private func lookUp(
    _ member: BagMember, _ reader: BagReader, _ state: BagState
  ) throws -> Item? {
    if let entry = state.unsaved[member] {
      return kind == .unsaved || kind == .contents ? item(entry) : nil
    }
    if let entry = state.removed[member] { return kind == .removed ? item(entry) : nil }
    let isHere = kind == .removed ? state.isCleared : !state.isCleared && kind != .unsaved
    return try isHere && reader.contains(member) ? Item(member: member) : nil
  }

  private func checkPage(_ limit: Int?, _ offset: Int) throws(StoreError) {
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw StoreError(
        .invalidArgument, "A limit or an offset is negative",
        [.actual: "\(limit ?? 0), \(offset)"])
    }
  }

  private func item(_ entry: BagState.Entry) -> Item {
    Item(member: entry.member, content: entry.content)
  }

  /// The items of a page.
  func page(
    _ reader: BagReader, _ state: BagState, _ limit: Int?, _ offset: Int
  ) throws -> [Item] {
    let isPlain = state.unsaved.isEmpty && state.removed.isEmpty && !state.isCleared
    if isPlain {
      guard kind == .saved || kind == .contents else { return [] }
      return try reader.members(offset: offset, limit: limit).map { Item(member: $0.member) }
    }
    var left = offset
    var items: [Item] = []
    try each(reader, state) { item in
      guard items.count < limit ?? .max else { return false }
      if left > 0 { left -= 1 } else { items.append(item) }
      return true
    }
    return items
  }

  /// Shows every item in the order that a save will give them.
  func each(
    _ reader: BagReader, _ state: BagState, _ show: (Item) throws -> Bool
  ) throws {
    var goesOn = true
    var shown: Set<BagMember> = []
    func give(_ item: Item) throws {
      if goesOn { goesOn = try show(item) }
    }
    switch kind {
    case .unsaved: for entry in state.unsavedEntries { try give(item(entry)) }
    case .removed:
      for entry in state.removedEntries { try give(item(entry)) }
      guard state.isCleared else { return }
      try reader.each { _, member in
        if state.unsaved[member] == nil, state.removed[member] == nil {
          try give(Item(member: member))
        }
        return goesOn
      }
    case .saved, .contents:
      if !state.isCleared {
        try reader.each { _, member in
          if let entry = state.unsaved[member] {
            guard kind == .contents, !entry.isMoved else { return goesOn }
            shown.insert(member)
            try give(item(entry))
          } else if state.removed[member] == nil {
            try give(Item(member: member))
          }
          return goesOn
        }
      }
      guard kind == .contents else { return }
      for entry in state.unsavedEntries where !shown.contains(entry.member) {
        try give(item(entry))
      }
    }
  }
}

extension BagState {
  /// How many saved members no change concerns.
  fileprivate func savedCount(_ reader: BagReader) throws -> Int {
    let pending = pending
    let count = try reader.count()
    return count == 0 || pending.isEmpty ? count : count - (try reader.contained(pending).count)
  }
}
