// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
public import NanoQuery
public import NanoStoreCore

extension Store {
  /// Returns the bag with this name, or a new one if there is none.
  ///
  /// If several bags have the name, the one that was saved first is returned. A new bag is written
  /// to the store when it is saved.
  ///
  /// ```swift
  /// let favorites = try store.bag(named: "favorites")
  /// favorites.hasUnsavedChanges                         // true the first time: it is new
  /// ```
  public func bag(named name: String) throws -> Bag {
    try bags(Field("name") == name, onlyFirst: true).first ?? Bag(name: name, in: self)
  }
  /// The asynchronous form of `bag(named:)`, which does not block the calling thread.
  public func bag(named name: String) async throws -> Bag {
    try await onReader { try self.bag(named: name) }
  }

  /// Returns the bag with this key, or nil if there is none.
  public func bag(key: String) throws -> Bag? { try bags(keys: [key]).first }
  /// The asynchronous form of `bag(key:)`, which does not block the calling thread.
  public func bag(key: String) async throws -> Bag? {
    try await onReader { try self.bag(key: key) }
  }

  /// Returns all bags, in the order in which they were first saved.
  public func bags() throws -> [Bag] { try bags(.constant(true)) }
  /// The asynchronous form of `bags()`, which does not block the calling thread.
  public func bags() async throws -> [Bag] { try await onReader { try self.bags() } }

  /// Returns a query for the saved bags that match the condition; without one, for all of them.
  ///
  /// ```swift
  /// let query = store.findBags(Field("name").hasPrefix("2026-")).sorted(by: "-name").limit(20)
  /// let bags = try store.bags(keys: query.keys())             // the bags, in this order
  /// let count = try store.findBags(.key(.beginsWith, "imported-")).count()
  /// ```
  ///
  /// A result is a document with the key of a bag and the field `name`; it has no members. A
  /// condition on the name uses an index. Renaming a bag changes the results once it is saved.
  /// Writing calls, such as `delete()`, throw ``StoreError/Code/invalidName``: use
  /// ``deleteBags(keys:)-([String])``.
  public func findBags(_ condition: Condition = .constant(true)) -> DocumentQuery {
    internalCollection(.bags).find(condition).withoutFieldCheck
  }

  /// Returns the bags with exactly this name.
  public func bags(named name: String) throws -> [Bag] { try bags(Field("name") == name) }
  /// The asynchronous form of `bags(named:)`, which does not block the calling thread.
  public func bags(named name: String) async throws -> [Bag] {
    try await onReader { try self.bags(named: name) }
  }

  /// Returns the bags with these keys, in the order of the keys. Keys without a bag are skipped.
  public func bags(keys: [String]) throws -> [Bag] {
    let keys = try keys.map { Identity.key(try DocumentKey($0)) }
    return try reading(.snapshot) { reader in
      try keys.compactMap { try Bag.stored($0, self, reader) }
    }
  }
  /// The asynchronous form of `bags(keys:)`, which does not block the calling thread.
  public func bags(keys: [String]) async throws -> [Bag] {
    try await onReader { try self.bags(keys: keys) }
  }

  /// Returns the saved bags that contain a document: a single index lookup.
  public func bags(containing document: Document) throws -> [Bag] {
    try document.member.map { try bags(containing: $0) } ?? []
  }
  /// The asynchronous form of `bags(containing:)`, which does not block the calling thread.
  public func bags(containing document: Document) async throws -> [Bag] {
    try await onReader { try self.bags(containing: document) }
  }

  /// Returns the saved bags that contain a bag.
  public func bags(containing bag: Bag) throws -> [Bag] { try bags(containing: bag.member) }
  /// The asynchronous form of `bags(containing:)`, which does not block the calling thread.
  public func bags(containing bag: Bag) async throws -> [Bag] {
    try await onReader { try self.bags(containing: bag) }
  }

  /// Returns the saved bags that contain a document or a bag with this key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - collection: The collection of the document; nil for all collections.
  public func bags(containingKey key: String, in collection: String? = nil) throws -> [Bag] {
    let key = Identity.key(try DocumentKey(key))
    return try reading(.snapshot) { reader in
      let names = try collection.map { [$0] } ?? reader.collections().map(\.name)
      let bags = try names.reduce(into: Set()) { ids, name in
        ids.formUnion(try Bag.holding(BagMember(name, key), reader))
      }
      return try bags.sorted().compactMap { try Bag.stored(.rowID($0), self, reader) }
    }
  }
  /// The asynchronous form of `bags(containingKey:in:)`, which does not block the calling thread.
  public func bags(
    containingKey key: String, in collection: String? = nil
  ) async throws -> [Bag] {
    try await onReader { try self.bags(containingKey: key, in: collection) }
  }

  /// Returns the saved bags that contain a member.
  public func bags(containing member: BagMember) throws -> [Bag] {
    try reading(.snapshot) { reader in
      try Bag.holding(member, reader).sorted()
        .compactMap { try Bag.stored(.rowID($0), self, reader) }
    }
  }
  /// The asynchronous form of `bags(containing:)`, which does not block the calling thread.
  public func bags(containing member: BagMember) async throws -> [Bag] {
    try await onReader { try self.bags(containing: member) }
  }

  private func bags(_ condition: Condition, onlyFirst: Bool = false) throws -> [Bag] {
    try reading(.call) { reader in
      var found: [Bag] = []
      // Without a limit, which would count rows that are not bags.
      try reader.find(Query(condition), in: InternalCollection.bags.rawValue) { stored in
        if let bag = try Bag(stored, self) { found.append(bag) }
        return !onlyFirst || found.isEmpty
      }
      return found
    }
  }
}

extension Store {
  /// Saves a bag in this store; see ``Bag/save()-()``.
  ///
  /// - Throws: The errors of ``Bag/save()-()``, and ``StoreError/Code/invalidArgument`` if the bag
  ///   belongs to a different store.
  public func save(_ bag: Bag) throws {
    guard bag.store == nil || bag.store === self else { throw Bag.otherStore }
    try bag.save(in: self)
  }
  /// The asynchronous form of `save(_:)`, which does not block the calling thread.
  public func save(_ bag: Bag) async throws { try await onWriter { try self.save(bag) } }

  /// Deletes the bag with this key and returns whether it existed. Its documents are kept.
  @discardableResult
  public func deleteBag(key: String) throws -> Bool { try deleteBags(keys: [key]) > 0 }
  /// The asynchronous form of `deleteBag(key:)`, which does not block the calling thread.
  @discardableResult
  public func deleteBag(key: String) async throws -> Bool {
    try await onWriter { try self.deleteBag(key: key) }
  }

  /// Deletes a bag and returns whether it existed; see ``Bag/delete()-()``.
  ///
  /// - Throws: The errors of ``Bag/delete()-()``, and ``StoreError/Code/invalidArgument`` if the
  ///   bag belongs to a different store.
  @discardableResult
  public func deleteBag(_ bag: Bag) throws -> Bool {
    guard bag.store == nil || bag.store === self else { throw Bag.otherStore }
    return try bag.delete()
  }
  /// The asynchronous form of `deleteBag(_:)`, which does not block the calling thread.
  @discardableResult
  public func deleteBag(_ bag: Bag) async throws -> Bool {
    try await onWriter { try self.deleteBag(bag) }
  }

  /// Deletes the bags with these keys in one transaction and returns how many existed.
  @discardableResult
  public func deleteBags(keys: [String]) throws -> Int {
    let keys = try keys.map { try DocumentKey($0) }
    return try writing(atomic: true) { writer in
      try keys.reduce(0) { try $0 + (BagMemberships(writer).deleteBag($1) ? 1 : 0) }
    }
  }
  /// The asynchronous form of `deleteBags(keys:)`, which does not block the calling thread.
  @discardableResult
  public func deleteBags(keys: [String]) async throws -> Int {
    try await onWriter { try self.deleteBags(keys: keys) }
  }
}

extension Bag {
  convenience init?(_ stored: StoredDocument, _ store: Store) throws {
    // A row that another program wrote without a key is not a bag.
    guard let key = stored.key else { return nil }
    self.init(
      key: key, state: BagState(store: store, name: try Self.name(stored), base: .stored))
  }

  static func stored(
    _ identity: Identity, _ store: Store, _ reader: any EngineReader
  ) throws -> Bag? {
    var bag: Bag?
    try reader.get(identity, in: InternalCollection.bags.rawValue) {
      bag = try Bag($0, store)
    }
    return bag
  }

  static func name(_ stored: StoredDocument) throws -> String? {
    var json = JSONReader(stored.body)
    return try json.object()["name"]?.string
  }

  /// Returns the row IDs of the bags that contain a member.
  fileprivate static func holding(
    _ member: BagMember, _ reader: any EngineReader
  ) throws -> [Int64] {
    var bags: [Int64] = []
    try BagReader.find(Query(Membership.concerns(member)), reader) { bags.append($0.bag) }
    return bags
  }
}
