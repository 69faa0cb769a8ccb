// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoStoreCore

extension Bag {
  /// All members of the bag, saved or not.
  ///
  /// They are in the order in which they will be saved.
  public var contents: BagPart { BagPart(bag: self, kind: .contents) }
  /// The saved members that no unsaved change affects.
  public var saved: BagPart { BagPart(bag: self, kind: .saved) }
  /// The members added since the last save.
  public var unsaved: BagPart { BagPart(bag: self, kind: .unsaved) }
  /// The members removed since the last save.
  public var removed: BagPart { BagPart(bag: self, kind: .removed) }

  /// Returns the number of members, saved or not, including bags.
  public func count() throws -> Int { try contents.count() }
  /// The asynchronous form of `count()`, which does not block the calling thread.
  public func count() async throws -> Int { try await contents.count() }

  /// Returns the members of the bag; see ``BagPart/members(limit:offset:)-(Int?,_)``.
  public func members(limit: Int? = nil, offset: Int = 0) throws -> [BagMember] {
    try contents.members(limit: limit, offset: offset)
  }
  /// The asynchronous form of `members(limit:offset:)`, which does not block the calling thread.
  public func members(limit: Int? = nil, offset: Int = 0) async throws -> [BagMember] {
    try await contents.members(limit: limit, offset: offset)
  }

  /// Returns the documents of the bag; see ``BagPart/documents(limit:offset:)-(Int?,_)``.
  public func documents(limit: Int? = nil, offset: Int = 0) throws -> [Document] {
    try contents.documents(limit: limit, offset: offset)
  }
  /// The asynchronous form of `documents(limit:offset:)`, which does not block the calling thread.
  public func documents(limit: Int? = nil, offset: Int = 0) async throws -> [Document] {
    try await contents.documents(limit: limit, offset: offset)
  }

  /// Returns the document with this key, or nil if it is not in the bag; see
  /// ``BagPart/document(_:in:)-(String,_)``.
  public func document(_ key: String, in collection: String? = nil) throws -> Document? {
    try contents.document(key, in: collection)
  }
  /// The asynchronous form of `document(_:in:)`, which does not block the calling thread.
  public func document(_ key: String, in collection: String? = nil) async throws -> Document? {
    try await contents.document(key, in: collection)
  }

  /// Returns the bags in this bag.
  public func bags() throws -> [Bag] { try contents.bags() }
  /// The asynchronous form of `bags()`, which does not block the calling thread.
  public func bags() async throws -> [Bag] { try await contents.bags() }

  /// Returns whether a document is in the bag: a single index lookup, however large the bag is.
  public func contains(_ document: Document) throws -> Bool {
    guard let member = document.member else {
      return try document.key.map { try contains(key: $0) } ?? false
    }
    return try contents.contains(member)
  }
  /// The asynchronous form of `contains(_:)`, which does not block the calling thread.
  public func contains(_ document: Document) async throws -> Bool {
    try await onReader { try self.contains(document) }
  }

  /// Returns whether a bag is in this one.
  public func contains(_ bag: Bag) throws -> Bool { try contents.contains(bag.member) }
  /// The asynchronous form of `contains(_:)`, which does not block the calling thread.
  public func contains(_ bag: Bag) async throws -> Bool {
    try await contents.contains(bag.member)
  }

  /// Returns whether a document or bag with this key is in the bag.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - collection: The collection of the document; nil to search every collection, and bags.
  public func contains(key: String, in collection: String? = nil) throws -> Bool {
    let key = try DocumentKey(key)
    return try reading { reader, state in
      try state.members(key, in: collection, reader).contains {
        try contents.isMember($0, reader, state)
      }
    }
  }
  /// The asynchronous form of `contains(key:in:)`, which does not block the calling thread.
  public func contains(key: String, in collection: String? = nil) async throws -> Bool {
    try await onReader { try self.contains(key: key, in: collection) }
  }
}

extension Bag {
  /// Loads the saved documents into memory.
  ///
  /// Reads are then served from memory, with the documents unchanged, until ``deflate()``,
  /// ``reload()-()``, a save that changes them, or a rollback to a savepoint in a transaction that
  /// has saved the bag before. Rarely needed: documents are otherwise read from the store on demand.
  public func inflate() throws {
    let transaction = store?.rollbackActions
    // Arbitrary: a bag that other tasks save all the time is read from the store instead.
    for _ in 0..<3 where try inflate(in: transaction) { return }
  }

  /// Returns false if a save or deletion of the bag began or ended meanwhile; then nothing is loaded.
  private func inflate(in transaction: RollbackActions?) throws -> Bool {
    let isDone = try changingOnce {
      reader, state -> (documents: [BagMember: Document], missing: Set<BagMember>) in
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
    } by: { found, state in
      state.setInflated(found.documents, in: transaction)
      state.dangling.formUnion(found.missing)
      return true
    }
    guard isDone == true else { return false }
    transaction?.append { self.change { $0.inflated = nil } }
    return true
  }
  /// The asynchronous form of `inflate()`, which does not block the calling thread.
  public func inflate() async throws { try await onReader { try self.inflate() } }

  /// Releases the documents that were loaded into memory. The contents of the bag do not change.
  public func deflate() { change { $0.inflated = nil } }

  /// The number of documents loaded into memory.
  public var loadedCount: Int { snapshot.inflated?.count ?? 0 }

  /// Returns the document of an item: as it was added, as it was loaded, or as it is stored.
  func document(
    _ item: BagPart.Item, _ reader: BagReader, _ state: BagState
  ) throws -> Document? {
    if let document = item.content.document { return document }
    guard !item.member.isBag else { return nil }
    if let document = state.inflated?[item.member] { return document }
    guard let document = try reader.document(item.member) else {
      // The next save that writes changes removes it from the bag.
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
