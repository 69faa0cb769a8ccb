// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension Bag {
  /// All that is in the bag, saved or not, in the order that a save will give it.
  public var contents: BagPart { BagPart(bag: self, kind: .contents) }
  /// What the store has in the bag and no change concerns.
  public var saved: BagPart { BagPart(bag: self, kind: .saved) }
  /// What was added since the last save.
  public var unsaved: BagPart { BagPart(bag: self, kind: .unsaved) }
  /// What was removed from the bag since the last save.
  public var removed: BagPart { BagPart(bag: self, kind: .removed) }

  /// How many members the bag has, saved or not, bags among them.
  public func count() throws -> Int { try contents.count() }
  public func count() async throws -> Int { try await contents.count() }

  /// See ``BagPart/members(limit:offset:)-(Int?,_)``.
  public func members(limit: Int? = nil, offset: Int = 0) throws -> [BagMember] {
    try contents.members(limit: limit, offset: offset)
  }
  public func members(limit: Int? = nil, offset: Int = 0) async throws -> [BagMember] {
    try await contents.members(limit: limit, offset: offset)
  }

  /// See ``BagPart/documents(limit:offset:)-(Int?,_)``.
  public func documents(limit: Int? = nil, offset: Int = 0) throws -> [Document] {
    try contents.documents(limit: limit, offset: offset)
  }
  public func documents(limit: Int? = nil, offset: Int = 0) async throws -> [Document] {
    try await contents.documents(limit: limit, offset: offset)
  }

  /// The document with this key; nil if it is not in the bag.
  public func document(_ key: String, in collection: String? = nil) throws -> Document? {
    try contents.document(key, in: collection)
  }
  public func document(_ key: String, in collection: String? = nil) async throws -> Document? {
    try await contents.document(key, in: collection)
  }

  /// The bags within this one.
  public func bags() throws -> [Bag] { try contents.bags() }
  public func bags() async throws -> [Bag] { try await contents.bags() }

  /// Whether a document is in the bag: one look into an index, however large the bag is.
  public func contains(_ document: Document) throws -> Bool {
    guard let member = document.member else {
      return try document.key.map { try contains(key: $0) } ?? false
    }
    return try contents.contains(member)
  }
  public func contains(_ document: Document) async throws -> Bool {
    try await onReader { try self.contains(document) }
  }

  public func contains(_ bag: Bag) throws -> Bool { try contents.contains(bag.member) }
  public func contains(_ bag: Bag) async throws -> Bool {
    try await contents.contains(bag.member)
  }

  /// - Parameter collection: Nil to look in every collection, and for a bag of this key.
  public func contains(key: String, in collection: String? = nil) throws -> Bool {
    let key = try DocumentKey(key)
    return try reading { reader, state in
      try state.members(key, in: collection, reader).contains {
        try contents.isMember($0, reader, state)
      }
    }
  }
  public func contains(key: String, in collection: String? = nil) async throws -> Bool {
    try await onReader { try self.contains(key: key, in: collection) }
  }
}

extension Bag {
  /// Loads the saved documents into memory, where they stay as they are now until ``deflate()``,
  /// ``reload()-()`` or a save that changes them; reads answer from there.
  ///
  /// Seldom needed: documents are read from the store when they are asked for.
  public func inflate() throws {
    let loaded = try reading { reader, state in
      var loaded: [BagMember: Document] = [:]
      var missing: Set<BagMember> = []
      try BagPart(bag: self, kind: .saved).each(reader, state) { item in
        guard !item.member.isBag else { return true }
        if let document = try reader.document(item.member) {
          loaded[item.member] = document
        } else {
          missing.insert(item.member)
        }
        return true
      }
      return (loaded, missing)
    }
    change {
      $0.inflated = loaded.0
      $0.dangling.formUnion(loaded.1)
    }
  }
  public func inflate() async throws { try await onReader { try self.inflate() } }

  /// Lets go of documents that were loaded into memory; the bag holds the same as before.
  public func deflate() { change { $0.inflated = nil } }

  /// How many documents are held in memory.
  public var loadedCount: Int { snapshot.inflated?.count ?? 0 }

  /// The document of an item: as it was added, as it was loaded, or as the store has it.
  func document(
    _ item: BagPart.Item, _ reader: BagReader, _ state: BagState
  ) throws -> Document? {
    if let document = item.content.document { return document }
    guard !item.member.isBag else { return nil }
    if let document = state.inflated?[item.member] { return document }
    guard let document = try reader.document(item.member) else {
      // The next save forgets it.
      if reader.bag != nil { change { _ = $0.dangling.insert(item.member) } }
      return nil
    }
    return document
  }

  func nested(_ item: BagPart.Item, _ reader: BagReader, _ state: BagState) throws -> Bag? {
    if let bag = item.content.bag { return bag }
    if item.member == member { return self }
    if let bag = state.nested[item.member]?.bag { return bag }
    guard let store = state.store, let engine = reader.reader else { return nil }
    return try Bag.stored(item.member.identity, store, engine)
  }
}
