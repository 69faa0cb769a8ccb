// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

/// A view of a bag: its saved, unsaved or removed members, or all of its contents.
///
/// ```swift
/// try bag.saved.count()                      // 100_000, from an index
/// try bag.unsaved.members().map(\.key)
/// try bag.removed.documents()
/// ```
///
/// A view holds no members itself: each call returns the state at that moment. Documents deleted by
/// another program are skipped.
public struct BagPart: Sendable {
  enum Kind: Sendable { case contents, saved, unsaved, removed }
  let bag: Bag
  let kind: Kind

  /// Returns the number of members, including bags. Documents deleted by another program count
  /// until the next save that writes changes.
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
  /// The asynchronous form of `count()`, which does not block the calling thread.
  public func count() async throws -> Int { try await bag.onReader { try self.count() } }

  /// Returns the members, in the order in which they were added.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of members; nil for all.
  ///   - offset: The number of members to skip first.
  public func members(limit: Int? = nil, offset: Int = 0) throws -> [BagMember] {
    try checkPage(limit, offset)
    return try bag.reading { reader, state in
      try page(reader, state, limit, offset).map { try reader.named($0.member) }
    }
  }
  /// The asynchronous form of `members(limit:offset:)`, which does not block the calling thread.
  public func members(limit: Int? = nil, offset: Int = 0) async throws -> [BagMember] {
    try await bag.onReader { try self.members(limit: limit, offset: offset) }
  }

  /// Returns the keys of the members, in order. Documents that have only row IDs are skipped.
  public func keys(limit: Int? = nil, offset: Int = 0) throws -> [String] {
    try members(limit: limit, offset: offset).compactMap(\.key)
  }
  /// The asynchronous form of `keys(limit:offset:)`, which does not block the calling thread.
  public func keys(limit: Int? = nil, offset: Int = 0) async throws -> [String] {
    try await bag.onReader { try self.keys(limit: limit, offset: offset) }
  }

  /// Returns the documents in order, unsaved ones as they were added.
  ///
  /// Limit and offset count members, so a page may contain fewer documents than its limit if it
  /// includes bags or documents deleted by another program. Pages never overlap.
  public func documents(limit: Int? = nil, offset: Int = 0) throws -> [Document] {
    try checkPage(limit, offset)
    return try bag.reading { reader, state in
      try page(reader, state, limit, offset).compactMap { try bag.document($0, reader, state) }
    }
  }
  /// The asynchronous form of `documents(limit:offset:)`, which does not block the calling thread.
  public func documents(limit: Int? = nil, offset: Int = 0) async throws -> [Document] {
    try await bag.onReader { try self.documents(limit: limit, offset: offset) }
  }

  /// Returns the document with this key, or nil if it is not in this part.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - collection: The collection of the document; nil for all collections. Of several documents
  ///     with the key, the one whose collection's name comes first is returned, by the bytes of the
  ///     name in lowercase ASCII letters.
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
  /// The asynchronous form of `document(_:in:)`, which does not block the calling thread.
  public func document(_ key: String, in collection: String? = nil) async throws -> Document? {
    try await bag.onReader { try self.document(key, in: collection) }
  }

  /// Returns whether a member is in this part.
  public func contains(_ member: BagMember) throws -> Bool {
    try bag.reading { reader, state in try isMember(member, reader, state) }
  }
  /// The asynchronous form of `contains(_:)`, which does not block the calling thread.
  public func contains(_ member: BagMember) async throws -> Bool {
    try await bag.onReader { try self.contains(member) }
  }

  /// Returns the bags in this part, in order. A bag that was added is returned as the same
  /// instance, while that exists.
  public func bags() throws -> [Bag] {
    try bag.reading { reader, state in
      try page(reader, state, nil, 0).filter(\.member.isBag)
        .compactMap { try bag.nested($0, reader, state) }
    }
  }
  /// The asynchronous form of `bags()`, which does not block the calling thread.
  public func bags() async throws -> [Bag] { try await bag.onReader { try self.bags() } }
}

extension BagPart {
  /// A member, with the content that was added if it is unsaved.
  struct Item {
    let member: BagMember
    var content = BagState.Content.stored
  }

  func memberSet() throws -> Set<BagMember> {
    try bag.reading { reader, state in Set(try page(reader, state, nil, 0).map(\.member)) }
  }

  func isMember(_ member: BagMember, _ reader: BagReader, _ state: BagState) throws -> Bool {
    guard let found = try lookUp(member, reader, state) else { return false }
    // It may contain itself before it is stored.
    if member == bag.member { return true }
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
    let includesStored = kind == .removed ? state.isCleared : !state.isCleared && kind != .unsaved
    return try includesStored && reader.contains(member) ? Item(member: member) : nil
  }

  private func checkPage(_ limit: Int?, _ offset: Int) throws(StoreError) {
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw StoreError(
        .invalidArgument, "The limit and the offset must not be negative",
        [.actual: "\(limit ?? 0), \(offset)"])
    }
  }

  private func item(_ entry: BagState.Entry) -> Item {
    Item(member: entry.member, content: entry.content)
  }

  /// Returns the items of a page.
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

  /// Passes every item to the closure, in the order that a save will give them, until it returns
  /// false.
  func each(
    _ reader: BagReader, _ state: BagState, _ show: (Item) throws -> Bool
  ) throws {
    var shouldContinue = true
    var visited: Set<BagMember> = []
    func emit(_ item: Item) throws {
      if shouldContinue { shouldContinue = try show(item) }
    }
    switch kind {
    case .unsaved: for entry in state.unsavedEntries { try emit(item(entry)) }
    case .removed:
      for entry in state.removedEntries { try emit(item(entry)) }
      guard state.isCleared else { return }
      try reader.each { _, member in
        if state.unsaved[member] == nil, state.removed[member] == nil {
          try emit(Item(member: member))
        }
        return shouldContinue
      }
    case .saved, .contents:
      if !state.isCleared {
        try reader.each { _, member in
          if let entry = state.unsaved[member] {
            guard kind == .contents, !entry.isMoved else { return shouldContinue }
            visited.insert(member)
            try emit(item(entry))
          } else if state.removed[member] == nil {
            try emit(Item(member: member))
          }
          return shouldContinue
        }
      }
      guard kind == .contents else { return }
      for entry in state.unsavedEntries where !visited.contains(entry.member) {
        try emit(item(entry))
      }
    }
  }
}

extension BagState {
  /// Returns the number of saved members that no unsaved change affects.
  fileprivate func savedCount(_ reader: BagReader) throws -> Int {
    let pending = pending
    let count = try reader.count()
    return count == 0 || pending.isEmpty ? count : count - (try reader.contained(pending).count)
  }
}
